"""The NVIDIA GPU that these tests use, as PyTorch and as the driver number it.

Test files that import this module are skipped, with the reason, without a GPU.
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
    """Return the missing requirement of these tests; None if all are met."""
    try:
        # The driver first, because PyTorch is slow to load.
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
    except pynvml.NVMLError as error:
        return f"no NVIDIA driver ({error})"
    if not count:
        return "no NVIDIA GPU"
    if find_spec("torch") is None:
        return "PyTorch is not installed"
    with warnings.catch_warnings():
        # For example, the driver is too old.
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
    """Return the driver's index of the GPU."""
    uuid = plain(str(torch.cuda.get_device_properties(DEVICE).uuid))
    for index in range(pynvml.nvmlDeviceGetCount()):
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        if plain(pynvml.nvmlDeviceGetUUID(handle)) == uuid:
            return index
    raise LookupError(f"the driver has no GPU {uuid}; one that is cut into slices?")


# Any: the library's handles have no types.
def handle() -> Any:
    """Return the driver library's handle of the GPU."""
    return pynvml.nvmlDeviceGetHandleByIndex(number())


def process_numbers() -> list[int]:
    """Return the ids of the processes that have memory on the GPU, from the driver."""
    return [p.pid for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle())]
