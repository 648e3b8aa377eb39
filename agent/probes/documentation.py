"""Writes the tables of docs/monitoring.md from the descriptions of the probes.

`python -m seamark.probes.documentation docs/monitoring.md`
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from seamark.probes.listing import probe_classes
from seamark.probes.process.profiler import Profiler
from seamark.probes.reading import Fact, Reading, Scope
from seamark.probes.sampler import Sampler

NOTICE = (
    "<!-- Written by `python -m seamark.probes.documentation docs/monitoring.md`. -->"
)
END = "<!-- End of the generated part. -->"
GPU, SLICES, LIMITED = "gpu/<i>/", "gpu/<i>/mig/<j>/", "gpu/<i>/limited/"
# Groups of metrics by path prefix; the first match counts.
GROUPS = (
    ("host/", "The host"),
    ("cores/", "Cores that the job may use"),
    ("job/", "The job"),
    ("cgroup/", "The container"),
    ("pressure/", "Pressure"),
    ("storage/", "File systems"),
    (SLICES, "MIG slices"),
    ("gpu/<i>/gpm/", "GPU hardware counters (Hopper and later)"),
    (LIMITED, "Reasons for lowered GPU clocks"),
    ("gpu/<i>/allocator/", "PyTorch's GPU allocator"),
    (GPU, "GPUs"),
    ("torch/", "PyTorch's compiler"),
    ("agent/", "The agent"),
)
NOTES = {
    "pressure/": "Pressure stall information of the kernel.",
    "storage/": (
        "`work` is the working directory, `data` the training data, `shared_memory`"
        " `/dev/shm`, through which loader workers pass batches."
    ),
    LIMITED: (
        "Time in which each reason lowered the clocks. Event reasons are a flag, 0 or 1,"
        " in each sample."
    ),
    GPU: "Errors count from the start of the agent, with the exceptions below.",
}


def tables() -> str:
    """Return the tables of all series and facts in Markdown."""
    probes = probe_classes()
    readings = [r for probe in probes for r in probe.readings] + [*Sampler.readings]
    facts = [f for probe in probes for f in probe.states] + [
        *Sampler.states,
        *Profiler.states,
    ]
    parts = [NOTICE]
    for prefix, title in GROUPS:
        some = [r for r in readings if _group(r.path) == prefix]
        note = f" {NOTES[prefix]}" if prefix in NOTES else ""
        parts += [f"### {title}", f"Scope: {some[0].scope.value}.{note}"]
        if prefix == SLICES:
            some, same = _split(some, {r.path for r in readings})
            parts.append(f"As for the whole GPU: {_paths(same)}.")
        if some:
            parts.append(_table_of_readings(some))
    return "\n\n".join([*parts, "## Facts", _list_of_facts(facts), END])


def rewritten(page: str) -> str:
    """Return the page with updated tables."""
    before, _, rest = page.partition(NOTICE)
    _, _, after = rest.partition(END)
    return f"{before}{tables()}{after}"


def _group(path: str) -> str:
    return next(prefix for prefix, _ in GROUPS if path.startswith(prefix))


def _split(
    slices: Iterable[Reading], paths: Collection[str]
) -> tuple[list[Reading], list[str]]:
    """Separate the metrics that only slices have from those that GPUs have too."""
    own, same = [], []
    for reading in slices:
        if reading.path.replace(SLICES, GPU) in paths:
            same.append(reading.path)
        else:
            own.append(reading)
    return own, same


def _table_of_readings(readings: Sequence[Reading]) -> str:
    by_path: dict[str, list[Reading]] = {}
    for reading in readings:
        by_path.setdefault(reading.path, []).append(reading)
    usual = readings[0].scope
    rows = [
        (
            path,
            some[0].unit,
            _joined([*(r.meaning for r in some), _other_scope(some, usual)]),
            _joined(map(_source, some)),
        )
        for path, some in by_path.items()
    ]
    return _table(("metric", "unit", "meaning", "source"), rows)


def _list_of_facts(facts: Iterable[Fact]) -> str:
    paths: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        paths.setdefault((fact.type, fact.meaning), []).append(fact.path)
    return "\n".join(
        f"- {_paths(some)} ({kind}){f': {meaning}' if meaning else ''}"
        for (kind, meaning), some in paths.items()
    )


def _table(head: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; paths with the same description share a row."""
    paths: dict[tuple[str, ...], list[str]] = {}
    for path, *cells in rows:
        paths.setdefault(tuple(cells), []).append(path)
    return "\n".join(
        [
            _row(head),
            f"|{'---|' * len(head)}",
            *(_row((_paths(some), *cells)) for cells, some in paths.items()),
        ]
    )


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _paths(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in _once(paths))


def _other_scope(readings: Iterable[Reading], usual: Scope) -> str:
    """Return the scopes if they differ from the usual one of the group."""
    scopes = _joined(r.scope.value for r in readings)
    return f"scope: {scopes}" if scopes != usual.value else ""


def _once(rows: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(rows))


def _joined(texts: Iterable[str]) -> str:
    """Join different texts that are not empty."""
    return "; ".join(_once(filter(None, texts)))


def _source(reading: Reading) -> str:
    """Return the source, and the interval unless it is a second."""
    every = "" if reading.seconds == 1 else f", {reading.seconds:g} s"
    return f"{_code(reading.source)}{every}"


def _code(source: str) -> str:
    return f"`{source}`" if "/" in source or "." in source else source


def main() -> None:
    page = Path(sys.argv[1])
    page.write_text(rewritten(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
