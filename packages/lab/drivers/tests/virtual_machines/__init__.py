"""Unit tests of servers as virtual machines."""
