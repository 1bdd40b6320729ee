"""Unit tests of the lab's drivers.

Run: python3 -m unittest discover -s packages/lab/drivers -t packages/lab/drivers
"""
