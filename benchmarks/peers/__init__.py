"""Comparison with the machine's limit and with other trackers; see docs/benchmarks.md."""
