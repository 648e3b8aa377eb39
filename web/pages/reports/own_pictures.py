"""Pictures of runs in a text, for visitors by share link, who cannot open the runs.

Their addresses contain a digest, which is looked up in the visible text: no address can
select a file outside the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from django.http import HttpResponse

from tracker.access.runs import runs_beside
from tracker.actor import Actor, Part
from tracker.errors import NotFound
from tracker.files import downloads
from tracker.queries.run.files import read_file
from web.markdown import pictures_of
from web.pages.reports.blocks import key_of


def outside_of(
    actor: Actor, address: Callable[[str], str]
) -> Callable[[str], str] | None:
    """Return where a stranger finds a picture, "" for nowhere; None: it is a member."""
    if actor.grant is None:
        return None
    sees_files = actor.sees(Part.FILES)
    return lambda picture: address(key_of(picture)) if sees_files else ""


# Any: a row of the projects table, which pages do not import.
def picture_answer(actor: Actor, project: Any, text: str, key: str) -> HttpResponse:
    """Send the picture of this key, if the text holds it and its run is there."""
    named = next((each for each in pictures_of(text) if key_of(each) == key), None)
    if named is None:
        raise NotFound("picture")
    parts = urlsplit(named)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if any("\0" in value for value in query.values()):
        raise NotFound("picture")
    runs = runs_beside(actor, project, [_run_id(parts.path)])
    if not runs:
        raise NotFound("run")
    row = read_file(runs[0], query.get("path", ""), query.get("digest", ""))
    return downloads.picture(row)


def _run_id(path: str) -> UUID:
    try:
        return UUID(path.split("/")[2])
    except ValueError as error:
        raise NotFound("run") from error
