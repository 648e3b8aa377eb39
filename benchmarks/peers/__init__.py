"""Seamark beside the machine's limit and beside other trackers; docs/benchmarks.md."""
