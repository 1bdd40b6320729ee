"""Unit tests of the lab's drivers: python3 -m unittest discover -s lab/drivers -t lab/drivers"""
