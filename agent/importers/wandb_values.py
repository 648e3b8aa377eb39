"""W&B's config and summary of a run (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from seamark.importers.problems import Problems
from seamark.importers.wandb import SPECIAL, leaves, to_float

NO_YAML = "PyYAML is not installed: pip install pyyaml"
# Found in W&B's `config.yaml`; other programs have files of that name.
_OURS = re.compile(r"^(wandb_version|_wandb):", re.MULTILINE)
_OWN = frozenset({"wandb_version", "_wandb"})
_DEEPEST = 64
_MAX_PARTS = 200_000
_BEGINNINGS = frozenset({"MappingStartEvent", "SequenceStartEvent"})
_ENDS = frozenset({"MappingEndEvent", "SequenceEndEvent"})
_LONGEST = 200  # characters of a reason
_SHOWN = 60  # characters of a name
# Numbers that YAML 1.1, and so PyYAML, parses as text.
_EXPONENT = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+")
# A sexagesimal number of YAML 1.1; parsing a long one takes minutes.
_LONG = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9]){20}")
_FLOAT = "tag:yaml.org,2002:float"


def read_config(text: str, problems: Problems) -> dict[str, object]:
    """Return the values of W&B's `config.yaml` by name; {} for other programs' files."""
    written = _OURS.search(text)
    if written is None:
        return {}
    try:
        found = _loaded(text, by_pyyaml=written[1] == "wandb_version")
    except ImportError:
        problems.add(NO_YAML, 1)
        return {}
    except _Unread as unread:
        problems.add(f"it is not in W&B's format: {unread}"[:_LONGEST], unread.line)
        return {}
    values: dict[str, object] = {}
    for name, entry in found.items():
        if name in _OWN:
            continue
        if isinstance(entry, dict) and "value" in entry:
            values[str(name)] = entry["value"]
        else:
            problems.add(f"{str(name)[:_SHOWN]!a} has no value", 1)
    return values


def read_summary(
    text: str, ends: Mapping[str, float], problems: Problems
) -> dict[str, object]:
    """Return values of `wandb-summary.json` that no series ends with, by path.

    Most entries repeat the last value of a series. The others, such as a best accuracy
    set by the script, are not stored elsewhere. `ends` are the last values of series.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        problems.add("it is not JSON", 1)
        return {}
    if not isinstance(found, dict):
        problems.add("it is not an object", 1)
        return {}
    return summary_values(found, ends)


def summary_values(
    found: Mapping[str, object], ends: Mapping[str, float]
) -> dict[str, object]:
    """Return the values of a summary that are not the end of a series, by path."""
    values: dict[str, object] = {}
    for path, stored in leaves("", found, 0):
        value = SPECIAL.get(stored, stored) if isinstance(stored, str) else stored
        # Pictures and histograms are in the history.
        if not path or path.startswith("_") or isinstance(value, dict):
            continue
        if path not in ends or not _is_same(value, ends[path]):
            values[path] = value
    return values


class _Unread(Exception):
    """Config with invalid or unexpected content, and the line."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


# Any: untrusted YAML.
def _loaded(text: str, *, by_pyyaml: bool) -> dict[Any, Any]:
    # The agent does not depend on PyYAML; wandb does.
    import yaml  # noqa: PLC0415

    class Loader(yaml.SafeLoader):
        """Also parses numbers like 1e5, which W&B's Go code writes, as numbers."""

    if not by_pyyaml:
        signs_and_digits = list("-+0123456789")
        Loader.add_implicit_resolver(_FLOAT, _EXPONENT, signs_and_digits)
    try:
        _check(yaml.parse(text, yaml.SafeLoader))
        found = yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _Unread(error.problem or "it is not YAML", line) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # For invalid characters, numbers and dates.
        raise _Unread(str(error).partition("\n")[0], 1) from error
    if not isinstance(found, dict):
        raise _Unread("it is not a mapping", 1)
    return found


# Any: events of PyYAML, which may not be installed.
def _check(events: Iterable[Any]) -> None:
    """Reject content that W&B never writes, or that expands when parsed."""
    depth = 0
    for number, event in enumerate(events):
        line = event.start_mark.line + 1
        kind = type(event).__name__
        if kind == "AliasEvent" or getattr(event, "tag", None):
            raise _Unread("it has aliases or tags", line)
        depth += kind in _BEGINNINGS
        depth -= kind in _ENDS
        if kind == "ScalarEvent" and event.implicit[0] and _LONG.match(event.value):
            raise _Unread("a number is too long", line)
        if depth > _DEEPEST:
            raise _Unread("it is nested too deeply", line)
        if number > _MAX_PARTS:
            raise _Unread("it has too many entries", line)


def _is_same(value: object, number: float) -> bool:
    # Compare texts, because NaN != NaN.
    return repr(to_float(value)) == repr(number)
