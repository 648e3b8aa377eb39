"""The captured source of a stage, with notes on missing parts (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from web.pages.run_files.diff import DiffFile, diff_files
from web.texts import gettext_lazy

# Type of a path's value; the agent's own paths have these types, but any client may
# write to them.
Value = float | int | bool | str | datetime | list[str]
Values = Mapping[str, Value]

OFF = gettext_lazy(
    "Not captured: capture was turned off, the SDK is too old, or the process ended"
    " too early."
)
MACHINE = (
    ("host", gettext_lazy("host")),
    ("os", gettext_lazy("operating system")),
    ("kernel", gettext_lazy("kernel")),
    ("cpu_model", gettext_lazy("CPU")),
    ("physical_cores", gettext_lazy("cores")),
    ("host_cores", gettext_lazy("logical CPUs")),
    ("host_memory_bytes", gettext_lazy("memory")),
    ("container", gettext_lazy("container")),
    ("scheduler", gettext_lazy("scheduler")),
    ("launcher", gettext_lazy("launcher")),
)
_LONGEST_HASH = 12


@dataclass(frozen=True, slots=True)
class GitCard:
    """The commit, and how the files differed from it."""

    commit: str
    title: str
    rest: str
    branch: str
    remote: str
    root: str
    author_time: datetime | None
    is_dirty: bool | None
    files: Sequence[DiffFile]
    untracked: Sequence[str]
    more_untracked: int
    absent: str
    absent_diff: str

    @property
    def short(self) -> str:
        return self.commit[:_LONGEST_HASH]

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)


@dataclass(frozen=True, slots=True)
class ScriptCard:
    """The script, and how it was started."""

    script: str
    text: str
    arguments: str
    folder: str
    python: str
    executable: str
    module: str
    notebook: str
    absent: str
    # The line to show, and the text around it; "" if none was chosen.
    before: str = ""
    line: str = ""
    after: str = ""


def git_card(values: Values) -> GitCard:
    """Return the known facts about the commit; missing ones are empty or None."""
    message = _text(values, "message")
    title, _, rest = message.partition("\n")
    is_dirty, when = values.get("is_dirty"), values.get("author_time")
    untracked = values.get("untracked")
    names = sorted(untracked) if isinstance(untracked, list) else []
    count = values.get("untracked_count")
    return GitCard(
        commit=_text(values, "commit"),
        title=title,
        rest=rest.strip(),
        branch=_text(values, "branch"),
        remote=_text(values, "remote"),
        root=_text(values, "root"),
        author_time=when if isinstance(when, datetime) else None,
        is_dirty=is_dirty if isinstance(is_dirty, bool) else None,
        files=diff_files(_text(values, "diff")),
        untracked=names,
        more_untracked=max(0, count - len(names)) if isinstance(count, int) else 0,
        absent=_text(values, "absent") or ("" if values else str(OFF)),
        absent_diff=_text(values, "absent_diff"),
    )


def script_card(values: Values, line: int = 0) -> ScriptCard:
    """Return the known facts about the script; `line` is the one to show."""
    card = _script_card(values)
    # Not splitlines(), for which a form feed begins a line.
    lines = [f"{text}\n" for text in card.text.split("\n")]
    if not 0 < line <= len(lines):
        return card
    before, after = "".join(lines[: line - 1]), "".join(lines[line:])
    return replace(card, before=before, line=lines[line - 1], after=after)


def _script_card(values: Values) -> ScriptCard:
    return ScriptCard(
        script=_text(values, "script"),
        text=_text(values, "text"),
        arguments=_text(values, "arguments"),
        folder=_text(values, "folder"),
        python=_text(values, "python"),
        executable=_text(values, "executable"),
        module=_text(values, "module"),
        notebook=_text(values, "notebook"),
        absent=_text(values, "absent") or ("" if values else str(OFF)),
    )


def package_rows(values: Values) -> list[tuple[str, str]]:
    """Return installed packages with their versions."""
    lines = _text(values, "list").splitlines()
    pairs = (line.partition("==") for line in lines)
    return [(name, version) for name, equals, version in pairs if equals]


def loaded_rows(values: Values) -> list[tuple[str, str]]:
    """Return the modules loaded by the script at the time of the capture, with
    versions.
    """
    return [
        (name.removeprefix("loaded/"), str(value))
        for name, value in sorted(values.items())
        if name.startswith("loaded/")
    ]


def machine_rows(values: Values) -> list[tuple[str, str, Value]]:
    """Return facts about the machine: label, name and value."""
    return [
        (str(label), name, values[name])
        for name, label in MACHINE
        if name in values and (name != "host_memory_bytes" or type(values[name]) is int)
    ]


def _text(values: Values, name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
