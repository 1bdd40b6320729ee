"""Volumes as sparse files, with loop devices as their block devices, and Cinder's driver."""
