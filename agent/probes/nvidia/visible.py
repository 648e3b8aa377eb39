"""Which GPUs a process may use, and which of them it reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from seamark.probes.nvidia.driver import all_gpus, as_text, uuid_of


@dataclass(frozen=True)
class Visible:
    """GPUs by the driver's numbers, in the order of CUDA's where that is known.

    The process may use `count` of them: all, unless only CUDA knows which. `absent` says
    why others cannot be had, of those that it could use else.
    """

    gpus: dict[int, Any]
    count: int
    is_ordered: bool
    absent: dict[int, Exception]


# Any: the library is loaded only where there is one, and has no types.
def visible_gpus(library: Any, environment: Mapping[str, str]) -> Visible:
    """Return the handles of the GPUs that this process may use."""
    gpus, absent = all_gpus(library)
    is_by_bus = _is_by_bus(library, gpus, environment)
    listed = environment.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return Visible(gpus, len(gpus), is_by_bus, absent)
    uuids = {index: uuid_of(library, gpu) or "" for index, gpu in gpus.items()}
    # As CUDA does, which sees nothing behind a name that is none.
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
    """Return what this process reads of the GPUs that it may use.

    The machine's first process reads all, each other one that of its own number: so
    every rank has its GPU, and a driver is not asked for each by all of them. Where
    nobody knows which GPU has that number, only the first reads any.
    """
    if not local_rank or len(gpus) <= 1:
        return dict(gpus)
    own = list(gpus)[local_rank : local_rank + 1] if is_ordered else []
    return {index: gpus[index] for index in own}


def _meant(
    library: Any, name: str, uuids: Mapping[int, str], *, is_by_bus: bool
) -> Collection[int]:
    """Return the number of the GPU of that name, or of all that it may be."""
    if name.startswith("MIG-"):
        return _cut_into(library, name, uuids)
    if name.startswith("GPU-"):
        # It may be shortened, as long as it stays unique.
        return [index for index, uuid in uuids.items() if uuid.startswith(name)]
    number = int(name)
    if is_by_bus:
        return [number] if number in uuids else []
    # CUDA calls the fastest 0, and the driver the first on the bus.
    return uuids.keys() if number < len(uuids) else []


def _absent_of(
    unfound: Sequence[str], absent: Mapping[int, Exception], *, is_by_bus: bool
) -> dict[int, Exception]:
    """Return those that may be meant by names that none has which can be had."""
    if is_by_bus and all(map(str.isdecimal, unfound)):
        return {index: why for index, why in absent.items() if str(index) in unfound}
    # One that is lost does not tell its id.
    return dict(absent) if unfound else {}


def _is_by_bus(
    library: Any, gpus: Mapping[int, Any], environment: Mapping[str, str]
) -> bool:
    """Whether CUDA's numbers are the driver's, which go by the bus."""
    if environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID":
        return True
    # The fastest comes first, if one is faster than another.
    models = {_model(library, gpu) for gpu in gpus.values()} - {None}
    return len(models) <= 1


def _model(library: Any, gpu: Any) -> str | None:
    try:
        return as_text(library.nvmlDeviceGetName(gpu))
    except library.NVMLError:
        return None


def _cut_into(library: Any, name: str, uuids: Mapping[int, str]) -> Collection[int]:
    """Return the GPU that a slice is of; all of them if the driver does not say."""
    try:
        part = library.nvmlDeviceGetHandleByUUID(name)
        card = library.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(part)
    except (AttributeError, library.NVMLError):
        return uuids.keys()
    uuid = uuid_of(library, card)
    return [index for index, known in uuids.items() if known == uuid] or uuids.keys()


def _is_name(name: str) -> bool:
    return name.isdecimal() or name.startswith(("GPU-", "MIG-"))
