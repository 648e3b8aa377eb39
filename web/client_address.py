"""The client's address, for pages; the API takes it from the same function."""

from tracker.client_address import client_address

__all__ = ["client_address"]
