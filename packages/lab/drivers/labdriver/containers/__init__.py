"""Servers as system containers: directory, unit, console, config drive and volumes."""
