"""The same as `seamark.frameworks.lightning`."""

from seamark.frameworks.lightning import SeamarkCallback, SeamarkLogger

__all__ = ["SeamarkCallback", "SeamarkLogger"]
