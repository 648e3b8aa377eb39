"""What a loop says by itself where PyTorch was imported: settings and device events.

Everything is read, nothing is set, and CUDA is never initialised for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch

from seamark.frameworks.torch_devices import find_computing, holding_tensors
from seamark.recording.device_times import DeviceTimes, Event

_TF32 = "tf32"


class TorchLoop:
    """The side of PyTorch that the agent asks, in the thread of the loop."""

    def __init__(self) -> None:
        self._gpu: int | None = None
        self._times = DeviceTimes(self._mark)

    def facts(self) -> dict[str, object]:
        """Return the settings that decide about speed, below `torch/`."""
        facts: dict[str, object] = {}
        for name, read in _SETTINGS.items():
            # Some cannot be read on every build, or beside others that were set.
            with contextlib.suppress(Exception):
                facts[f"torch/{name}"] = read()
        with contextlib.suppress(Exception):
            facts.update(_distributed_facts())
        return {name: value for name, value in facts.items() if value is not None}

    def autocast_facts(self) -> dict[str, object]:
        """Return autocast's type while it is on; outside of it nothing is known."""
        device = "cuda" if torch.cuda.is_initialized() else "cpu"
        dtype = _autocast_type(device)
        return {} if dtype is None else {"torch/autocast": type_name(dtype)}

    def device_times(self) -> DeviceTimes | None:
        """Return what times phases on the GPU of the loop that begins.

        None where the script has nothing on a GPU, or on several of which the current
        one is none. Whatever it returned earlier goes on with this loop's GPU, too.
        """
        self._gpu = None
        if torch.cuda.is_initialized():
            self._gpu = find_computing(torch.cuda, holding_tensors(torch.cuda))
        return None if self._gpu is None else self._times

    def _mark(self) -> Event | None:
        # In a graph that is being captured an event would be a part of the graph.
        if self._gpu is None or torch.cuda.is_current_stream_capturing():
            return None
        # By default it would lie on the current GPU, whichever the script computes on.
        stream = torch.cuda.current_stream(self._gpu)
        event: Event = stream.record_event(torch.cuda.Event(enable_timing=True))
        return event


def type_name(dtype: Any) -> str:
    """Return `bfloat16` of `torch.bfloat16`."""
    return str(dtype).removeprefix("torch.")


def _autocast_type(device: str) -> Any:
    """Return autocast's type; None while it is off."""
    try:
        is_enabled = torch.is_autocast_enabled(device)
    except TypeError:
        return _older_autocast_type(device)
    return torch.get_autocast_dtype(device) if is_enabled else None


def _older_autocast_type(device: str) -> Any:
    """As before PyTorch 2.4, where each kind of device has calls of its own."""
    if device == "cuda":
        return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else None
    is_enabled = torch.is_autocast_cpu_enabled()
    return torch.get_autocast_cpu_dtype() if is_enabled else None


def _distributed_facts() -> dict[str, object]:
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return {}
    return {
        "distributed/backend": distributed.get_backend(),
        "distributed/world_size": distributed.get_world_size(),
    }


def _device_count() -> int | None:
    # Asked without CUDA's help it may start the driver.
    return torch.cuda.device_count() if torch.cuda.is_initialized() else None


def _cudnn_version() -> int | None:
    version: int | None = (
        torch.backends.cudnn.version() if torch.cuda.is_initialized() else None
    )
    return version


# By now each kind of operation has an `fp32_precision`; the older names for the same
# refuse to be read where that was set.


def _matmul_precision() -> str:
    precision = _precision(torch.backends.cuda.matmul)
    if precision is None:
        return str(torch.get_float32_matmul_precision())
    if precision != _TF32:
        return "highest"
    # On the GPU both are the same.
    is_medium = _precision(torch.backends.mkldnn.matmul) == "bf16"
    return "medium" if is_medium else "high"


def _allows_tf32(operations: Any, older: Any) -> bool:
    precision = _precision(operations)
    return bool(older.allow_tf32) if precision is None else precision == _TF32


def _precision(operations: Any) -> str | None:
    """Return in what operations on float32 compute; None in older PyTorch."""
    precision: str | None = getattr(operations, "fp32_precision", None)
    return precision


# Any: PyTorch's types are known only where it is installed.
_SETTINGS: dict[str, Callable[[], Any]] = {
    "version": lambda: str(torch.__version__),
    "cuda": lambda: torch.version.cuda,
    "cudnn": _cudnn_version,
    "cudnn_benchmark": lambda: torch.backends.cudnn.benchmark,
    "deterministic": torch.are_deterministic_algorithms_enabled,
    "matmul_precision": _matmul_precision,
    "tf32_matmul": lambda: _allows_tf32(
        torch.backends.cuda.matmul, torch.backends.cuda.matmul
    ),
    "tf32_cudnn": lambda: _allows_tf32(
        getattr(torch.backends.cudnn, "conv", None), torch.backends.cudnn
    ),
    "default_dtype": lambda: type_name(torch.get_default_dtype()),
    "threads": torch.get_num_threads,
    "device_count": _device_count,
}
