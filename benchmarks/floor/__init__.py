"""The minimum work of a tracker per batch: one row and one commit."""
