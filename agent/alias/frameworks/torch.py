"""The same as `seamark.frameworks.torch`."""

from seamark.frameworks.torch import describe

__all__ = ["describe"]
