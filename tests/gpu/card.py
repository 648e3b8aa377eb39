"""The NVIDIA GPU that these tests run on: PyTorch's first one, and the driver's.

A test file that imports this is skipped where there is none, and says why.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib.util import find_spec
from typing import Any

import pynvml
import pytest

from seamark.probes.nvidia.numbers import plain


def missing() -> str | None:
    """Return what these tests lack here; None if it is all there."""
    try:
        # The driver first: without it there is no need for PyTorch, which is slow to load.
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
    except pynvml.NVMLError as error:
        return f"no NVIDIA driver ({error})"
    if not count:
        return "no NVIDIA GPU"
    if find_spec("torch") is None:
        return "PyTorch is not installed"
    with warnings.catch_warnings():
        # Of a driver that is too old, for one.
        warnings.simplefilter("ignore")
        import torch

        if not torch.cuda.is_available():
            return "a PyTorch that finds no GPU"
    return None


if (lacking := missing()) is not None:
    pytest.skip(f"tests on an NVIDIA GPU: {lacking}", allow_module_level=True)

import torch  # noqa: E402

DEVICE = "cuda:0"


@cache
def number() -> int:
    """Return the driver's number of the GPU."""
    uuid = plain(str(torch.cuda.get_device_properties(DEVICE).uuid))
    for index in range(pynvml.nvmlDeviceGetCount()):
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        if plain(pynvml.nvmlDeviceGetUUID(handle)) == uuid:
            return index
    raise LookupError(f"the driver has no GPU {uuid}; one that is cut into slices?")


# Any: the library's handles have no types.
def handle() -> Any:
    """Return what the driver's library calls the GPU."""
    return pynvml.nvmlDeviceGetHandleByIndex(number())


def process_numbers() -> list[int]:
    """Return the processes that have memory on the GPU, by the driver's numbers."""
    return [p.pid for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle())]
