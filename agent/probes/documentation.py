"""Writes the tables of docs/monitoring.md from the descriptions of the probes.

`python -m seamark.probes.documentation docs/monitoring.md`
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from seamark.probes.listing import probe_classes
from seamark.probes.reading import Fact, Reading
from seamark.probes.sampler import Sampler

NOTICE = (
    "<!-- Written by `python -m seamark.probes.documentation docs/monitoring.md`. -->"
)
END = "<!-- The end of what is written so. -->"
# Groups of metrics by path prefix; the first match counts.
GROUPS = (
    ("host/", "The host"),
    ("cores/", "Its cores, as far as the job may use them"),
    ("job/", "The job"),
    ("cgroup/", "Its container"),
    ("pressure/", "Pressure"),
    ("storage/", "File systems"),
    ("gpu/<i>/mig/", "Slices of GPUs (MIG)"),
    ("gpu/<i>/gpm/", "GPUs: hardware counters, from Hopper on"),
    ("gpu/<i>/limited/", "GPUs: why clocks are lower than they could be"),
    ("gpu/<i>/allocator/", "GPUs: PyTorch's allocator"),
    ("gpu/", "GPUs"),
    ("torch/", "PyTorch's compiler"),
    ("agent/", "The agent itself"),
)


def tables() -> str:
    """Return the tables of all series and facts in Markdown."""
    probes = probe_classes()
    readings = [r for probe in probes for r in probe.readings] + [*Sampler.readings]
    facts = [f for probe in probes for f in probe.states] + [*Sampler.states]
    parts = [NOTICE]
    for prefix, title in GROUPS:
        some = [r for r in readings if _group(r.path) == prefix]
        parts += [f"### {title}", _table_of_readings(some)]
    return "\n\n".join([*parts, "## Facts, once", _table_of_facts(facts), END])


def rewritten(page: str) -> str:
    """Return the page with updated tables."""
    before, _, rest = page.partition(NOTICE)
    _, _, after = rest.partition(END)
    return f"{before}{tables()}{after}"


def _group(path: str) -> str:
    return next(prefix for prefix, _ in GROUPS if path.startswith(prefix))


def _table_of_readings(readings: Iterable[Reading]) -> str:
    by_path: dict[str, list[Reading]] = {}
    for reading in readings:
        by_path.setdefault(reading.path, []).append(reading)
    rows = [
        f"| `{path}` | {some[0].unit} | {_joined(r.scope.value for r in some)} "
        f"| {_joined(map(_source, some))} | {_joined(r.meaning for r in some)} |"
        for path, some in by_path.items()
    ]
    head = [
        "| path | unit | scope | source, quality | meaning |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows])


def _table_of_facts(facts: Iterable[Fact]) -> str:
    rows = [f"| `{fact.path}` | {fact.type} | {fact.meaning} |" for fact in facts]
    return "\n".join(["| path | type | meaning |", "|---|---|---|", *_once(rows)])


def _once(rows: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(rows))


def _joined(texts: Iterable[str]) -> str:
    """Join different texts that are not empty."""
    return "; ".join(_once(filter(None, texts)))


def _source(reading: Reading) -> str:
    """Return source and quality, and the interval unless it is a second."""
    every = "" if reading.seconds == 1 else f", {reading.seconds:g} s"
    return f"{_code(reading.source)} {reading.quality:g}{every}"


def _code(source: str) -> str:
    return f"`{source}`" if "/" in source or "." in source else source


def main() -> None:
    page = Path(sys.argv[1])
    page.write_text(rewritten(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
