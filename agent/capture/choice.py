"""What may be captured, by name, and what of it is wanted."""

from __future__ import annotations

from collections.abc import Iterable

from agent.errors import InvalidSetting

# docs/how-to/what-is-captured.md says what each of them stores, and where.
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
# The same for all processes of a run; the first one says it.
OF_FIRST_RANK = frozenset({"git", "packages", "source"})

_ACCEPTED = f"yes, no, or names out of {', '.join(sorted(NAMES))}"


def chosen(capture: object, variable: str | None) -> frozenset[str]:
    """Return the names of what is captured, from an argument or else a variable."""
    if capture is None:
        return _from_text(variable or "yes")
    if isinstance(capture, bool):
        return NAMES if capture else frozenset()
    if isinstance(capture, str) or not isinstance(capture, Iterable):
        raise InvalidSetting("capture", "must be True, False or a set of names")
    return _from_names("capture", [str(name) for name in capture])


def _from_text(text: str) -> frozenset[str]:
    if text in ("yes", "no"):
        return NAMES if text == "yes" else frozenset()
    names = [name.strip() for name in text.split(",") if name.strip()]
    return _from_names("SEAMARK_CAPTURE", names)


def _from_names(setting: str, names: list[str]) -> frozenset[str]:
    """Return these, or, where each has a minus before it, all but these."""
    is_without = bool(names) and all(name.startswith("-") for name in names)
    plain = frozenset(name.removeprefix("-") if is_without else name for name in names)
    if not plain <= NAMES:
        raise InvalidSetting(
            setting,
            f"must be {_ACCEPTED}; each with a minus before it means all others",
        )
    return NAMES - plain if is_without else plain
