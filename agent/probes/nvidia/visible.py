"""Determines which GPUs a process may use, and which it measures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from seamark.probes.nvidia.driver import all_gpus, as_text, uuid_of


@dataclass(frozen=True)
class Visible:
    """GPUs by the driver's index, in CUDA's order if known.

    The process may use `count` of them: all, if only CUDA knows which. `absent` has the
    errors of usable GPUs that are unavailable.
    """

    gpus: dict[int, Any]
    count: int
    is_ordered: bool
    absent: dict[int, Exception]


# Any: the library is loaded only if it is installed, and has no types.
def visible_gpus(library: Any, environment: Mapping[str, str]) -> Visible:
    """Return the handles of the GPUs that this process may use."""
    gpus, absent = all_gpus(library)
    is_by_bus = _is_by_bus(library, gpus, environment)
    listed = environment.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return Visible(gpus, len(gpus), is_by_bus, absent)
    uuids = {index: uuid_of(library, gpu) or "" for index, gpu in gpus.items()}
    # Like CUDA, which ignores everything after an invalid name.
    names = [*takewhile(_is_name, map(str.strip, listed.split(",")))]
    meant = [_meant(library, name, uuids, is_by_bus=is_by_bus) for name in names]
    found = {index: gpus[index] for some in meant for index in some}
    count = min(len(found), sum(bool(some) for some in meant))
    unfound = [name for name, some in zip(names, meant, strict=True) if not some]
    return Visible(
        found,
        count,
        all(len(some) <= 1 for some in meant),
        _absent_of(unfound, absent, is_by_bus=is_by_bus),
    )


def own_gpus(
    gpus: Mapping[int, Any], local_rank: int | None, *, is_ordered: bool = True
) -> dict[int, Any]:
    """Return the GPUs that this process measures, out of those that it may use.

    The machine's first process measures all, and each other one the GPU of its local
    rank: every rank has its GPU, and the driver gets few queries. If that GPU is
    unknown, only the first process measures any.
    """
    if not local_rank or len(gpus) <= 1:
        return dict(gpus)
    own = list(gpus)[local_rank : local_rank + 1] if is_ordered else []
    return {index: gpus[index] for index in own}


def _meant(
    library: Any, name: str, uuids: Mapping[int, str], *, is_by_bus: bool
) -> Collection[int]:
    """Return the index of the named GPU, or all possible ones."""
    if name.startswith("MIG-"):
        return _cut_into(library, name, uuids)
    if name.startswith("GPU-"):
        # A UUID may be abbreviated if it is unique.
        return [index for index, uuid in uuids.items() if uuid.startswith(name)]
    number = int(name)
    if is_by_bus:
        return [number] if number in uuids else []
    # CUDA's index 0 is the fastest GPU, the driver's the first on the bus.
    return uuids.keys() if number < len(uuids) else []


def _absent_of(
    unfound: Sequence[str], absent: Mapping[int, Exception], *, is_by_bus: bool
) -> dict[int, Exception]:
    """Return unavailable GPUs that may be meant by names without an available GPU."""
    if is_by_bus and all(map(str.isdecimal, unfound)):
        return {index: why for index, why in absent.items() if str(index) in unfound}
    # A lost GPU does not return its UUID.
    return dict(absent) if unfound else {}


def _is_by_bus(
    library: Any, gpus: Mapping[int, Any], environment: Mapping[str, str]
) -> bool:
    """Return whether CUDA's indices are the driver's, which follow the PCI bus."""
    if environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID":
        return True
    # CUDA sorts by speed if the models differ.
    models = {_model(library, gpu) for gpu in gpus.values()} - {None}
    return len(models) <= 1


def _model(library: Any, gpu: Any) -> str | None:
    try:
        return as_text(library.nvmlDeviceGetName(gpu))
    except library.NVMLError:
        return None


def _cut_into(library: Any, name: str, uuids: Mapping[int, str]) -> Collection[int]:
    """Return the GPU of a MIG slice; all GPUs if the driver does not report it."""
    try:
        part = library.nvmlDeviceGetHandleByUUID(name)
        card = library.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(part)
    except (AttributeError, library.NVMLError):
        return uuids.keys()
    uuid = uuid_of(library, card)
    return [index for index, known in uuids.items() if known == uuid] or uuids.keys()


def _is_name(name: str) -> bool:
    return name.isdecimal() or name.startswith(("GPU-", "MIG-"))
