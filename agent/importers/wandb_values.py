"""What W&B stores once of a run: its config and its summary (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from seamark.importers.noted import Noted
from seamark.importers.wandb import SPECIAL, leaves, to_float

NO_YAML = "it takes PyYAML to read it, which is not installed: pip install pyyaml"
# Of `config.yaml`; other programs have files of that name.
_OURS = re.compile(r"^(wandb_version|_wandb):", re.MULTILINE)
_OWN = frozenset({"wandb_version", "_wandb"})
_DEEPEST = 64
_MAX_PARTS = 200_000
_BEGINNINGS = frozenset({"MappingStartEvent", "SequenceStartEvent"})
_ENDS = frozenset({"MappingEndEvent", "SequenceEndEvent"})
_LONGEST = 200  # characters of a reason
_SHOWN = 60  # characters of a name
# A number that YAML 1.1, and so PyYAML, takes for a text.
_EXPONENT = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+")
# A number to the base of 60, as YAML 1.1 has them; a long one takes minutes to read.
_LONG = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9]){20}")
_FLOAT = "tag:yaml.org,2002:float"


def read_config(text: str, noted: Noted) -> dict[str, object]:
    """Return the values of W&B's `config.yaml` by name; nothing of another's."""
    written = _OURS.search(text)
    if written is None:
        return {}
    try:
        found = _loaded(text, by_pyyaml=written[1] == "wandb_version")
    except ImportError:
        noted.add(NO_YAML, 1)
        return {}
    except _Unread as unread:
        noted.add(f"it is not as W&B writes it: {unread}"[:_LONGEST], unread.line)
        return {}
    values: dict[str, object] = {}
    for name, entry in found.items():
        if name in _OWN:
            continue
        if isinstance(entry, dict) and "value" in entry:
            values[str(name)] = entry["value"]
        else:
            noted.add(f"{str(name)[:_SHOWN]!a} has no value", 1)
    return values


def read_summary(
    text: str, ends: Mapping[str, float], noted: Noted
) -> dict[str, object]:
    """Return what `wandb-summary.json` says that no series ends with, by path.

    Of most series it repeats the last number, which the series says itself. What a
    script sets there, such as its best accuracy, or only there, is said nowhere else.
    `ends` are the last numbers of series.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        noted.add("it is no JSON", 1)
        return {}
    if not isinstance(found, dict):
        noted.add("it is no object", 1)
        return {}
    return summary_values(found, ends)


def summary_values(
    found: Mapping[str, object], ends: Mapping[str, float]
) -> dict[str, object]:
    """Return the values of a summary that are not the end of a series, by path."""
    values: dict[str, object] = {}
    for path, said in leaves("", found, 0):
        value = SPECIAL.get(said, said) if isinstance(said, str) else said
        # Of pictures and histograms, the history tells.
        if not path or path.startswith("_") or isinstance(value, dict):
            continue
        if path not in ends or not _is_same(value, ends[path]):
            values[path] = value
    return values


class _Unread(Exception):
    """A config is not as W&B writes it, and where."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


# Any: YAML of strangers.
def _loaded(text: str, *, by_pyyaml: bool) -> dict[Any, Any]:
    # The agent does without it, and whoever has wandb has it, too.
    import yaml  # noqa: PLC0415

    class Loader(yaml.SafeLoader):
        """Takes for a number what newer versions of W&B, written in Go, write as one."""

    if not by_pyyaml:
        signs_and_digits = list("-+0123456789")
        Loader.add_implicit_resolver(_FLOAT, _EXPONENT, signs_and_digits)
    try:
        _check(yaml.parse(text, yaml.SafeLoader))
        found = yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _Unread(error.problem or "it is no YAML", line) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # Of characters that no text has, and of numbers and dates that there are not.
        raise _Unread(str(error).partition("\n")[0], 1) from error
    if not isinstance(found, dict):
        raise _Unread("it has no names", 1)
    return found


# Any: PyYAML's events, of a module that may not be there.
def _check(events: Iterable[Any]) -> None:
    """Refuse what W&B never writes, and what takes much more room than its text."""
    depth = 0
    for number, event in enumerate(events):
        line = event.start_mark.line + 1
        kind = type(event).__name__
        if kind == "AliasEvent" or getattr(event, "tag", None):
            raise _Unread("it has aliases or tags", line)
        depth += kind in _BEGINNINGS
        depth -= kind in _ENDS
        if kind == "ScalarEvent" and event.implicit[0] and _LONG.match(event.value):
            raise _Unread("it holds a number of very many parts", line)
        if depth > _DEEPEST:
            raise _Unread("it is nested too deeply", line)
        if number > _MAX_PARTS:
            raise _Unread("it holds too much", line)


def _is_same(value: object, number: float) -> bool:
    # By their texts, as NaN is no number's equal.
    return repr(to_float(value)) == repr(number)
