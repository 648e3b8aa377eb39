"""The same as `seamark.frameworks.transformers`."""

from seamark.frameworks.transformers import SeamarkCallback

__all__ = ["SeamarkCallback"]
