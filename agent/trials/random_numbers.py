"""Preserves the script's random state during micro-benchmarks.

Uses only libraries that the script has imported.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

_PutBack = Callable[[], object]
# Attributes of loaders with samplers, which may be nested.
_SAMPLERS = ("sampler", "batch_sampler")
_DEEPEST = 3


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Restore the generators of Python, NumPy and PyTorch afterwards."""
    with contextlib.ExitStack() as stack:
        for look in (_at_python, _at_numpy, _at_torch, _at_cuda):
            # KeyError for modules that are not imported; other errors come from foreign
            # code.
            with contextlib.suppress(Exception):
                stack.callback(_quietly, look())
        yield


@contextlib.contextmanager
def kept_of(loader: object) -> Iterator[None]:
    """Restore the generators of a loader and its samplers afterwards."""
    with contextlib.ExitStack() as stack:
        for generator in _generators(loader):
            with contextlib.suppress(Exception):
                state = generator.get_state()
                stack.callback(_quietly, partial(generator.set_state, state))
        yield


def _quietly(put_back: _PutBack) -> None:
    with contextlib.suppress(Exception):
        put_back()


def _at_python() -> _PutBack:
    random = sys.modules["random"]
    return partial(random.setstate, random.getstate())


def _at_numpy() -> _PutBack:
    random = sys.modules["numpy.random"]
    return partial(random.set_state, random.get_state(legacy=False))


def _at_torch() -> _PutBack:
    torch = sys.modules["torch"]
    return partial(torch.set_rng_state, torch.get_rng_state())


def _at_cuda() -> _PutBack:
    cuda = sys.modules["torch"].cuda
    # Reading the states would initialize every GPU.
    states = cuda.get_rng_state_all() if cuda.is_initialized() else []
    return partial(cuda.set_rng_state_all, states)


def _generators(loader: object) -> list[Any]:
    """Return the generators of PyTorch loaders and samplers other than the global one."""
    found: list[Any] = []
    holders = [loader]
    with contextlib.suppress(Exception):
        for _ in range(_DEEPEST):
            found += [getattr(holder, "generator", None) for holder in holders]
            below = [getattr(h, name, None) for h in holders for name in _SAMPLERS]
            holders = [holder for holder in below if holder is not None]
    return [generator for generator in found if generator is not None]
