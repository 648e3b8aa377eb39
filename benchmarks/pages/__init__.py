"""How long pages take in a real browser; but for the installation, each is one page."""
