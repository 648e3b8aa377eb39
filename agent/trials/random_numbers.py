"""The script's random numbers, which trials draw from: they go on as without a trial.

Libraries are asked where the script imported them; none is imported for it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

_PutBack = Callable[[], object]
# What a loader has that draws the order of its examples, and may have others below it.
_SAMPLERS = ("sampler", "batch_sampler")
_DEEPEST = 3


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Leave the generators of Python, NumPy and PyTorch as they are now."""
    with contextlib.ExitStack() as stack:
        for look in (_at_python, _at_numpy, _at_torch, _at_cuda):
            # What is not imported is none of `sys.modules`; what fails is foreign code.
            with contextlib.suppress(Exception):
                stack.callback(_quietly, look())
        yield


@contextlib.contextmanager
def kept_of(loader: object) -> Iterator[None]:
    """Leave the generators that a loader and its samplers were given as they are now."""
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
    # Asking for the states would begin to use every GPU.
    states = cuda.get_rng_state_all() if cuda.is_initialized() else []
    return partial(cuda.set_rng_state_all, states)


def _generators(loader: object) -> list[Any]:
    """Return what PyTorch's loaders and samplers draw from instead of the common one."""
    found: list[Any] = []
    holders = [loader]
    with contextlib.suppress(Exception):
        for _ in range(_DEEPEST):
            found += [getattr(holder, "generator", None) for holder in holders]
            below = [getattr(h, name, None) for h in holders for name in _SAMPLERS]
            holders = [holder for holder in below if holder is not None]
    return [generator for generator in found if generator is not None]
