"""Parses yes/no settings and the names of captured sources."""

from __future__ import annotations

from collections.abc import Iterable

from seamark.errors import InvalidSetting

# docs/how-to/automatic-capture.md lists the content and path of each.
NAMES = frozenset(
    {
        "console",
        "environment",
        "failure",
        "git",
        "host",
        "packages",
        "signals",
        "source",
    }
)
# The same for all processes of a run, so only the first one stores them.
OF_FIRST_RANK = frozenset({"git", "packages", "source"})

# Common spellings.
_SPELLINGS = {
    **dict.fromkeys(("yes", "y", "true", "t", "on", "1"), True),
    **dict.fromkeys(("no", "n", "false", "f", "off", "0"), False),
}
_ACCEPTED = f"yes, no, or names out of {', '.join(sorted(NAMES))}"


def as_yes_or_no(text: str) -> bool | None:
    """Return the meaning of a yes/no text; None if it is neither."""
    return _SPELLINGS.get(text.strip().lower())


def chosen(capture: object) -> frozenset[str]:
    """Return the names of captured sources, from an argument."""
    if isinstance(capture, bool):
        return NAMES if capture else frozenset()
    if isinstance(capture, str) or not isinstance(capture, Iterable):
        raise InvalidSetting("capture", "must be True, False or a set of names")
    return _from_names("capture", [str(name) for name in capture])


def chosen_in_text(text: str) -> frozenset[str]:
    """Return the names of captured sources, from an environment variable."""
    is_all = as_yes_or_no(text)
    if is_all is not None:
        return NAMES if is_all else frozenset()
    return _from_names("SEAMARK_CAPTURE", _split(text))


def valid_sources(text: str) -> frozenset[str]:
    """Return the valid names in a text that also contains invalid ones.

    An exclusion with an invalid name excludes everything, because its meaning is
    unknown.
    """
    return NAMES & frozenset(_split(text))


def _split(text: str) -> list[str]:
    return [name.strip().lower() for name in text.split(",") if name.strip()]


def _from_names(setting: str, names: list[str]) -> frozenset[str]:
    """Return these names, or, if all have a minus, all other names."""
    is_without = bool(names) and all(name.startswith("-") for name in names)
    plain = frozenset(name.removeprefix("-") if is_without else name for name in names)
    if not plain <= NAMES:
        raise InvalidSetting(
            setting,
            f"must be {_ACCEPTED}; names with a leading minus are excluded",
        )
    return NAMES - plain if is_without else plain
