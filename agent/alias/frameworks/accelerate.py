"""The same as `seamark.frameworks.accelerate`."""

from seamark.frameworks.accelerate import SeamarkTracker

__all__ = ["SeamarkTracker"]
