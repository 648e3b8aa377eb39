"""Maps the paths of a stage to signals; all paths here are relative to its prefix."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.signals import SIGNALS, Kind, Signal

GPU = re.compile(r"(?:facts/)?gpu/(\d{1,4})/")

# Scripts choose the names of phases, so their number is limited.
MAX_PHASES = 64
NAME, PART = "<name>", "/<part>"


def of_stage(kind: Kind) -> list[Signal]:
    """Return the signals of the whole stage that are read from a path."""
    return [
        signal
        for signal in SIGNALS.values()
        if signal.kind is kind and signal.path and not signal.is_per_gpu
    ]


def of_gpus(kind: Kind) -> list[Signal]:
    return [s for s in SIGNALS.values() if s.kind is kind and s.is_per_gpu]


def gpu_path(signal: Signal, gpu: int) -> str:
    return signal.path.replace("<i>", str(gpu))


def gpu_numbers(paths: Iterable[str]) -> list[int]:
    found = (GPU.match(path) for path in paths)
    return sorted({int(match[1]) for match in found if match})


def sampled_paths(names: Collection[str], gpus: Iterable[int]) -> list[str]:
    of_all = [s.path for s in of_stage(Kind.SAMPLED) if s.name in names]
    per_gpu = [s for s in of_gpus(Kind.SAMPLED) if s.name in names]
    return [*of_all, *(gpu_path(signal, gpu) for signal in per_gpu for gpu in gpus)]


def phase_paths(paths: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the signal and the phase name of each path that times a phase."""
    known = list(paths)
    found: dict[str, tuple[str, str]] = {}
    for signal in of_stage(Kind.PHASES):
        start, _, end = signal.path.partition(NAME)
        matching = sorted(p for p in known if p.startswith(start) and p.endswith(end))
        for path in matching[:MAX_PHASES]:
            found[path] = signal.name, path.removeprefix(start).removesuffix(end)
    return found


def request_part_paths(
    paths: Iterable[str], phases: Iterable[str]
) -> dict[str, tuple[str, str]]:
    """Return the request phase and the part name of each path that times a part.

    Names may contain slashes, so the known phases determine where the first name ends.
    """
    (signal,) = of_stage(Kind.PARTS)
    start, _, rest = signal.path.partition(NAME)
    end = rest.removeprefix(PART)
    requests = sorted(
        (name for name in set(phases) if kind_of_phase(name) is PhaseKind.REQUEST),
        key=len,
        reverse=True,
    )
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(p for p in paths if p.startswith(start) and p.endswith(end)):
        pair = path.removeprefix(start).removesuffix(end)
        phase = next((name for name in requests if pair.startswith(f"{name}/")), None)
        if phase is not None and len(found) < MAX_PHASES:
            found[path] = phase, pair.removeprefix(f"{phase}/")
    return found
