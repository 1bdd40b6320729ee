"""Unit tests of the lab's drivers, in the folders of their sources.

Run: python3 -m unittest discover -s packages/lab/drivers -t packages/lab/drivers
"""
