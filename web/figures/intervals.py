"""The time between logged points, for runs without timed steps."""

from __future__ import annotations

from web.figures.rows import Reading, Row
from web.figures.series import Line
from web.figures.texts import gettext, ngettext

SLOW_COLOUR = "var(--color-warning)"


def interval_row(every: Line, slow: Line, *, steps: int) -> Row:
    """Draw the intervals, each of so many steps, and mark the slow ones."""
    readings = [Reading(gettext("interval"), [every])]
    if len(slow.x):
        readings.append(
            Reading(gettext("slow"), [slow], colour=SLOW_COLOUR, is_marks=True)
        )
    return Row(
        title=gettext("Time between logged points"),
        unit="s",
        note=ngettext("per step", "per %(count)d steps", steps) % {"count": steps},
        readings=readings,
    )
