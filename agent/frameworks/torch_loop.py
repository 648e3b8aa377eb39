"""Captures settings and device events of a loop if PyTorch is imported.

It only reads, and never initializes CUDA.
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
    """Reads PyTorch's state for the agent, in the thread of the loop."""

    def __init__(self) -> None:
        self._stream = _Stream()
        # Without a reference cycle: the garbage collector of a forked child would
        # destroy the events.
        self._times = DeviceTimes(self._stream.mark)

    def facts(self) -> dict[str, object]:
        """Return performance settings, with the prefix `torch/`."""
        facts: dict[str, object] = {}
        for name, read in _SETTINGS.items():
            # Some settings are unreadable in some builds or combinations.
            with contextlib.suppress(Exception):
                facts[f"torch/{name}"] = read()
        with contextlib.suppress(Exception):
            facts.update(_distributed_facts())
        return {name: value for name, value in facts.items() if value is not None}

    def autocast_facts(self) -> dict[str, object]:
        """Return the autocast type; {} outside of autocast."""
        device = "cuda" if torch.cuda.is_initialized() else "cpu"
        dtype = _autocast_type(device)
        return {} if dtype is None else {"torch/autocast": type_name(dtype)}

    def device_times(self) -> DeviceTimes | None:
        """Return the timer of GPU phases for the loop that begins.

        None if the process has no tensors on a GPU, or only on several GPUs other than
        the current one. Timers returned earlier switch to this loop's GPU, too.
        """
        gpu = self._stream.gpu = None
        if torch.cuda.is_initialized():
            gpu = find_computing(torch.cuda, holding_tensors(torch.cuda))
        self._stream.gpu = gpu
        return None if gpu is None else self._times


class _Stream:
    """The stream of the loop's GPU; None without one."""

    gpu: int | None = None

    def mark(self) -> Event | None:
        """Record an event after all work queued so far, if possible."""
        # During graph capture the event would become part of the graph.
        if self.gpu is None or torch.cuda.is_current_stream_capturing():
            return None
        # The default stream is that of the current GPU, which may be another one.
        stream = torch.cuda.current_stream(self.gpu)
        event: Event = stream.record_event(torch.cuda.Event(enable_timing=True))
        return event


def type_name(dtype: Any) -> str:
    """Return `bfloat16` for `torch.bfloat16`."""
    return str(dtype).removeprefix("torch.")


def _autocast_type(device: str) -> Any:
    """Return the autocast type; None if autocast is off."""
    try:
        is_enabled = torch.is_autocast_enabled(device)
    except TypeError:
        return _older_autocast_type(device)
    return torch.get_autocast_dtype(device) if is_enabled else None


def _older_autocast_type(device: str) -> Any:
    """Return the autocast type before PyTorch 2.4, which has functions per device type."""
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
    # Before CUDA is initialized, the call may start the driver.
    return torch.cuda.device_count() if torch.cuda.is_initialized() else None


def _cudnn_version() -> int | None:
    version: int | None = (
        torch.backends.cudnn.version() if torch.cuda.is_initialized() else None
    )
    return version


# Recent releases have `fp32_precision` per kind of operation; if it is set, reading the
# older names raises an error.


def _matmul_precision() -> str:
    precision = _precision(torch.backends.cuda.matmul)
    if precision is None:
        return str(torch.get_float32_matmul_precision())
    if precision != _TF32:
        return "highest"
    # On a GPU both are the same.
    is_medium = _precision(torch.backends.mkldnn.matmul) == "bf16"
    return "medium" if is_medium else "high"


def _allows_tf32(operations: Any, older: Any) -> bool:
    precision = _precision(operations)
    return bool(older.allow_tf32) if precision is None else precision == _TF32


def _precision(operations: Any) -> str | None:
    """Return the precision of float32 operations; None in older PyTorch."""
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
