"""Where each byte on disk goes."""
