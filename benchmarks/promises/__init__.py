"""Runs the tests of a guarantee with many examples."""
