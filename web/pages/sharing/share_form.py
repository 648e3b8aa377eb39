"""The form that makes a share link."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.http import QueryDict

from tracker.actions.shares import LinkRequest
from tracker.actor import Part
from tracker.boards.frozen import Frozen
from tracker.errors import InvalidInput
from web.texts import gettext_lazy

ON_A_DATE = "date"
EXPIRIES = {
    "1": gettext_lazy("In 1 day"),
    "7": gettext_lazy("In 1 week"),
    "30": gettext_lazy("In 30 days"),
    ON_A_DATE: gettext_lazy("On a date"),
    "": gettext_lazy("Never"),
}
USUAL_EXPIRY = "7"
# Checkboxes, and the parts that each adds to a link.
PARTS = {
    Part.CONFIG: (
        gettext_lazy("Configuration and arguments"),
        gettext_lazy("parameters, other configured values, command line"),
    ),
    Part.ENVIRONMENT: (
        gettext_lazy("Environment and source"),
        gettext_lazy(
            "code, profile, commit, packages, environment variables, machine names"
        ),
    ),
    Part.LOGS: (
        gettext_lazy("Logs"),
        gettext_lazy("console output, logged text, failure reasons"),
    ),
    Part.FILES: (
        gettext_lazy("Files"),
        gettext_lazy("images, tables and checkpoints, as downloads"),
    ),
}
LATEST = date(9000, 1, 1)


@dataclass(frozen=True, slots=True)
class ShareForm:
    """The submitted values."""

    kind: str
    of: str
    label: str = ""
    expiry: str = USUAL_EXPIRY
    day: str = ""
    parts: frozenset[Part] = frozenset()
    is_frozen: bool = False

    def request(self, now: datetime, frozen: Frozen | None = None) -> LinkRequest:
        return LinkRequest(
            kind=self.kind,
            of=self.of,
            parts=self.parts,
            label=self.label,
            expires_at=self._expires_at(now),
            frozen=frozen,
        )

    def _expires_at(self, now: datetime) -> datetime | None:
        if self.expiry not in EXPIRIES:
            raise InvalidInput("expiry", "must be one of the choices")
        if self.expiry == ON_A_DATE:
            return _end_of(self.day)
        return now + timedelta(days=int(self.expiry)) if self.expiry else None


def read_form(posted: QueryDict) -> ShareForm:
    chosen = posted.getlist("part")
    return ShareForm(
        kind=posted.get("kind", ""),
        of=posted.get("of", ""),
        label=posted.get("label", ""),
        expiry=posted.get("expiry", USUAL_EXPIRY),
        day=posted.get("day", ""),
        parts=frozenset(part for part in Part if part in chosen),
        is_frozen="frozen" in posted,
    )


def _end_of(day: str) -> datetime:
    """Return when a day is over, by UTC as all times here."""
    try:
        read = date.fromisoformat(day)
    except ValueError as error:
        raise InvalidInput("the date", "must be chosen, as year-month-day") from error
    if read >= LATEST:
        raise InvalidInput("the date", "is too far in the future; choose “Never”")
    return datetime.combine(read + timedelta(days=1), time(), UTC)
