"""The least a tracker can do with a batch: one row, one commit, nothing else."""
