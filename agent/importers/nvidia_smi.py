"""Detects the kind of an nvidia-smi log from its beginning (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice

from seamark.importers.nvidia_dmon import COLUMNS, is_head, read_monitor
from seamark.importers.nvidia_query import Clock, read_query
from seamark.importers.nvidia_table import is_title, read_table
from seamark.importers.nvidia_wide import is_wide_head, read_wide
from seamark.importers.problems import Problems
from seamark.importers.reading import FileFacts, Reading

_LOOKED_AT = 50  # lines


def read_log(
    lines: Iterable[str],
    problems: Problems,
    file_facts: FileFacts,
    *,
    clock: Clock,
    columns: Sequence[str] = (),
    processes: Collection[int] = (),
) -> Iterator[Reading]:
    """Yield the GPU values of a log, by timestamp.

    `columns` names the columns of a log without a head.
    """
    numbered = enumerate((line.strip() for line in lines), 1)
    first = list(islice(numbered, _LOOKED_AT))
    all_lines = chain(first, numbered)
    if any(is_title(line) for _, line in first):
        return read_table(all_lines, problems, file_facts, clock=clock)
    is_monitor = any(is_head(line) for _, line in first)
    if is_monitor or {name.casefold() for name in columns} & {*COLUMNS, "pid"}:
        return read_monitor(
            all_lines, problems, clock=clock, columns=columns, processes=processes
        )
    if not columns and any(is_wide_head(line) for _, line in first):
        return read_wide(all_lines, problems, file_facts, clock=clock)
    return read_query(all_lines, problems, file_facts, clock=clock, columns=columns)
