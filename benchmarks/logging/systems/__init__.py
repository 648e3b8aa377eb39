"""One client each; all but `nothing` and `seamark` run in the peer's environment."""
