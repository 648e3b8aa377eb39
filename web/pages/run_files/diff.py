"""A diff as git prints it, taken apart into files and lines (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Together they are shown at once; beyond, each file waits to be opened.
OPEN_AT_MOST = 400  # lines
_FILE = "diff --git "
_NEW_NAME, _OLD_NAME = "+++ ", "--- "


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line; `kind` is one of added, removed, hunk, note and same."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class DiffFile:
    """The changes of one file."""

    name: str
    lines: tuple[DiffLine, ...]
    is_open: bool

    @property
    def added(self) -> int:
        return sum(line.kind == "added" for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.kind == "removed" for line in self.lines)


def diff_files(diff: str) -> list[DiffFile]:
    """Return the files of a diff; lines outside any file come first, without a name."""
    groups = list(_groups(diff.removesuffix("\n").split("\n")))
    is_short = sum(len(lines) for lines in groups) <= OPEN_AT_MOST
    return [
        DiffFile(_name(lines), tuple(_lines(lines)), is_open=is_short)
        for lines in groups
    ]


def _groups(lines: Iterable[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for line in lines:
        if line.startswith(_FILE) and group:
            yield group
            group = []
        group.append(line)
    if any(group):
        yield group


def _name(lines: list[str]) -> str:
    found = ""
    for line in lines:
        if line.startswith("@@"):
            break
        for sign, prefix in ((_NEW_NAME, "b/"), (_OLD_NAME, "a/")):
            name = line.removeprefix(sign).split("\t")[0]
            if line.startswith(sign) and name != "/dev/null":
                found = name.removeprefix(prefix)
    if found or not lines[0].startswith(_FILE):
        return found
    # Binary files and mode changes have only `diff --git a/NAME b/NAME`.
    names = lines[0].removeprefix(_FILE)
    return names[len(names) // 2 + 1 :].removeprefix("b/")


def _lines(lines: Iterable[str]) -> Iterator[DiffLine]:
    is_inside = False
    for line in lines:
        if line.startswith("@@"):
            is_inside = True
            yield DiffLine("hunk", line)
        elif not is_inside:
            # The name is shown already, and hashes are not useful.
            if line and not line.startswith((_FILE, _NEW_NAME, _OLD_NAME, "index ")):
                yield DiffLine("note", line)
        else:
            yield DiffLine(_KINDS.get(line[:1], "note"), line)


_KINDS = {"+": "added", "-": "removed", " ": "same", "": "same"}
