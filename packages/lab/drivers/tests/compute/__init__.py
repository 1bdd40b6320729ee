"""Unit tests of Nova's driver and of what a compute service reports."""
