"""Notes on series to which several processes log concurrently (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from web.figures.texts import gettext, ngettext

# Maximum number of recorded writers; there may be more.
MAX_KNOWN = 64


def writers_words(ranks: Sequence[int]) -> str:
    """Name processes by their ranks, one per process: ranks 0 to 7."""
    known = sorted(set(ranks))
    if len(ranks) >= MAX_KNOWN:
        return gettext("at least %(count)s processes") % {"count": len(ranks)}
    if len(known) == 1:
        template = ngettext(
            "%(count)s process of rank %(rank)s",
            "%(count)s processes of rank %(rank)s",
            len(ranks),
        )
        return template % {"count": len(ranks), "rank": known[0]}
    ends = {"first": known[0], "last": known[-1]}
    if len(known) == 2:  # noqa: PLR2004 - the first and the last
        return gettext("ranks %(first)s and %(last)s") % ends
    if known[-1] - known[0] == len(known) - 1:
        return gettext("ranks %(first)s to %(last)s") % ends
    return gettext("%(count)s ranks") % {"count": len(known)}


def shared_note(ranks: Mapping[str, Sequence[int]]) -> str:
    """Return a note on the shared series of a chart, by path; "" if none is."""
    if not ranks:
        return ""
    (path, first), *others = ranks.items()
    if others:
        note = gettext(
            "%(count)s of these series were logged by several processes in parallel,"
            " so a step may have several points."
        )
        return note % {"count": len(ranks)}
    note = gettext(
        "%(path)s was logged by %(writers)s in parallel, so a step may have several"
        " points."
    )
    note = note % {"path": path, "writers": writers_words(first)}
    return f"{note} {_how_to_part(first)}"


def lines_note(ranks: Sequence[int], *, is_measured: bool) -> str:
    """Return a note on a shared text; "" if not. `is_measured`: the agent captures it."""
    if not ranks:
        return ""
    note = gettext("Logged by %(writers)s in parallel. Texts are in order of arrival.")
    note = note % {"writers": writers_words(ranks)}
    if is_measured:
        how = gettext("To separate them, give each process its own stage or rank.")
        return f"{note} {how}"
    return f"{note} {_how_to_part(ranks)}"


def _how_to_part(ranks: Sequence[int]) -> str:
    if len(set(ranks)) > 1:
        return gettext("Set SEAMARK_SEPARATE_RANKS=yes to separate them.")
    return gettext("To separate them, give each process its own path.")
