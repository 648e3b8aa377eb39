"""How long pages take in a real browser; each module is one page, run by itself."""
