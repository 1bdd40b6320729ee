"""Unit tests of the images of servers."""
