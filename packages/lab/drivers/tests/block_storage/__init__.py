"""Unit tests of volumes on the host and of Cinder's driver."""
