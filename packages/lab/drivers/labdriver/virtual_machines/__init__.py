"""Servers as virtual machines of qemu."""
