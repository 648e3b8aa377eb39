"""Runs the tests that show a promise, at length."""
