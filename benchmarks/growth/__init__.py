"""Capacity per core and gigabyte, and of larger machines."""
