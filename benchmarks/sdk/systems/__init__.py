"""One client per module; all but `nothing` and `seamark` run in the peer's environment."""
