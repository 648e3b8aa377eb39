"""Reports the content of PyTorch's memory after an out-of-memory error.

It runs once, when the process is about to end, so it need not be fast.
"""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from seamark.frameworks.allocator_snapshot import summarized
from seamark.frameworks.torch_loop import type_name

# Errors of the CPU allocator have no separate type.
_CPU_MESSAGE = "DefaultCPUAllocator"
_REQUESTED = re.compile(
    r"allocate ([\d.]+) ?(bytes|KiB|MiB|GiB|TiB)|allocate (\d+) bytes"
)
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_GPU = re.compile(r"\bGPU (\d{1,4})\b")
_MAX_LISTED = 10

PARAMETERS, GRADIENTS, OPTIMIZER, ACTIVATIONS, OTHER = (
    "parameters",
    "gradients",
    "optimizer",
    "activations",
    "other tensors",
)
# Tensors of torch.compile, which claim a GPU but have no memory.
_WITHOUT_MEMORY = ("FakeTensor", "FunctionalTensor")


@dataclass(frozen=True)
class _Holding:
    """Memory of a tensor; tensors that share memory are one holding."""

    kind: str
    size_bytes: int
    label: str


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error is an allocation failure on a GPU or the CPU."""
    if _is_of_gpu(error):
        return True
    return isinstance(error, RuntimeError) and _CPU_MESSAGE in str(error)


def report(error: BaseException) -> dict[str, object]:
    """Return the use of the device's memory, as far as visible from Python."""
    device = _device_of(error)
    facts: dict[str, object] = {"device": device}
    requested = _requested_bytes(str(error))
    if requested is not None:
        facts["requested_bytes"] = requested

    holdings = list(_holdings(device))
    kinds = (PARAMETERS, GRADIENTS, OPTIMIZER, ACTIVATIONS, OTHER)
    sizes = dict.fromkeys(kinds, 0)
    for holding in holdings:
        sizes[holding.kind] += holding.size_bytes
    for kind, size in sizes.items():
        facts[f"{kind.replace(' ', '_')}_bytes"] = size
    facts["largest"] = _largest(holdings)
    if device.startswith("cuda"):
        facts |= _allocator(device)
    allocated = facts.get("allocated_bytes")
    if isinstance(allocated, int):
        # Some tensors that autograd saves for backward have no Python object.
        unseen = max(0, allocated - sum(sizes.values()))
        facts["activations_bytes"] = sizes[ACTIVATIONS] + unseen
    return facts


def _device_of(error: BaseException) -> str:
    if not _is_of_gpu(error):
        return "cpu"
    named = _GPU.search(str(error))
    return f"cuda:{named[1] if named else torch.cuda.current_device()}"


def _is_of_gpu(error: BaseException) -> bool:
    # Before PyTorch 2.5 the class exists only in torch.cuda.
    older = getattr(torch.cuda, "OutOfMemoryError", ())
    return isinstance(error, getattr(torch, "OutOfMemoryError", older))


def _requested_bytes(message: str) -> int | None:
    found = _REQUESTED.search(message)
    return round(float(found[1]) * _UNITS[found[2]]) if found else None


def _allocator(device: str) -> dict[str, object]:
    facts: dict[str, object] = {}
    with contextlib.suppress(Exception):
        stats = torch.cuda.memory_stats(device)
        facts["allocated_bytes"] = stats["allocated_bytes.all.current"]
        facts["reserved_bytes"] = stats["reserved_bytes.all.current"]
        facts["peak_allocated_bytes"] = stats["allocated_bytes.all.peak"]
        facts["allocator_retries"] = stats["num_alloc_retries"]
        facts["summary"] = torch.cuda.memory_summary(device, abbreviated=True)
    # Separately, because its format differs between releases.
    with contextlib.suppress(Exception):
        segments = torch.cuda.memory_snapshot()
        facts |= summarized(segments, int(device.removeprefix("cuda:")))
    return facts


def _holdings(device: str) -> Iterator[_Holding]:
    """Yield each block of the device's memory once, with its most specific owner."""
    objects = gc.get_objects()
    # Check the type only: `isinstance` may run the object's code.
    optimizers = [o for o in objects if issubclass(type(o), torch.optim.Optimizer)]
    tensors = [
        o
        for o in objects
        if issubclass(type(o), torch.Tensor) and type(o).__name__ not in _WITHOUT_MEMORY
    ]
    parameters = [t for t in tensors if issubclass(type(t), torch.nn.Parameter)]
    gradients = [p.grad for p in parameters if p.is_leaf and p.grad is not None]
    states = [
        value
        for optimizer in optimizers
        for state in list(optimizer.state.values())
        for value in list(state.values())
        if issubclass(type(value), torch.Tensor)
    ]
    known: set[int] = set()
    for kind, members in (
        (PARAMETERS, parameters),
        (GRADIENTS, gradients),
        (OPTIMIZER, states),
        (OTHER, tensors),
    ):
        for tensor in members:
            holding = None
            # Sparse tensors have no storage.
            with contextlib.suppress(Exception):
                holding = _holding(kind, tensor, device, known)
            if holding is not None:
                yield holding


# Any: PyTorch's types are known only where it is installed.
def _holding(kind: str, tensor: Any, device: str, known: set[int]) -> _Holding | None:
    if str(tensor.device) != device:
        return None
    storage = tensor.untyped_storage()
    place, size = storage.data_ptr(), storage.nbytes()
    if not size or place in known:
        return None
    known.add(place)
    if kind == OTHER and tensor.grad_fn is not None:
        # Tensors saved by autograd are Python objects even without a name.
        kind = ACTIVATIONS
    shape = "×".join(map(str, tensor.shape)) or "scalar"
    return _Holding(kind, size, f"{kind}: {type_name(tensor.dtype)} {shape}")


def _largest(holdings: list[_Holding]) -> str:
    """Return a line for each of the largest holdings; equal ones share a line."""
    counts: dict[tuple[int, str], int] = {}
    for holding in holdings:
        key = (holding.size_bytes, holding.label)
        counts[key] = counts.get(key, 0) + 1
    ranked = sorted(
        counts.items(), key=lambda entry: entry[0][0] * entry[1], reverse=True
    )
    return "\n".join(
        f"{_size(count * size)}  {label}" + (f"  × {count}" if count > 1 else "")
        for ((size, label), count) in ranked[:_MAX_LISTED]
    )


def _size(size_bytes: int) -> str:
    if size_bytes < 2**20:
        return f"{size_bytes / 2**10:,.1f} KiB"
    return f"{size_bytes / 2**20:,.1f} MiB"
