"""Unit tests of servers as system containers."""
