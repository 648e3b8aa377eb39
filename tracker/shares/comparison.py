"""A comparison of runs: its tabs of measurements, and the pages of its runs."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from django.urls import reverse

from tracker.errors import InvalidInput
from tracker.models import Project, Run
from tracker.shares.kind import Chosen, Kind, Shared, as_id

RUNS = "runs"
FEWEST, MOST = 2, 20
LONGEST_QUERY = 4_000
MOST_FIELDS = 50
MOST_NAMED = 3
# What tabs that are not shared would be asked: it names parameters and other runs.
UNSHARED = frozenset(
    (
        "together",
        "dash",
        "chart",
        "dimension",
        "brush",
        "colour",
        "x",
        "y",
        "size",
        "log_x",
        "log_y",
        "among",
        "query",
        "left",
        "right",
        "view",
    )
)


def choose(project: Project, of: str) -> Chosen:
    """Take the query of the comparison's page; runs that are not there are left out."""
    wanted = [as_id(text, "run") for text in _fields(of).get(RUNS, "").split(",")]
    wanted = list(dict.fromkeys(wanted))
    if len(wanted) > MOST:
        raise InvalidInput(
            RUNS, f"must be at most {MOST} for a link; a dashboard's link shows more"
        )
    found = set(_runs(project, wanted))
    ids = [run_id for run_id in wanted if run_id in found]
    if len(ids) < FEWEST:
        raise InvalidInput(RUNS, "must be two or more of this project")
    query = urlencode({**_fields(of), RUNS: ",".join(map(str, ids))})
    if len(query) > LONGEST_QUERY:
        raise InvalidInput("what is compared", "takes too long an address")
    return Chosen(",".join(sorted(map(str, ids))), query)


def read(project: Project, things: Collection[str]) -> dict[str, Shared]:
    """Return what is left of each: runs in the trash are left out, as on the page."""
    wanted = {thing: [UUID(text) for text in thing.split(",")] for thing in things}
    names = _runs(project, {run_id for ids in wanted.values() for run_id in ids})
    found = {}
    for thing, ids in wanted.items():
        here = [run_id for run_id in ids if run_id in names]
        if here:
            title = _title([names[run_id] for run_id in here])
            found[thing] = Shared(title, {"run": frozenset(here)})
    return found


def address(project: Project, shared: Shared, query: str) -> str:
    fields = _fields(query)
    here = [
        text for text in fields[RUNS].split(",") if UUID(text) in shared.things["run"]
    ]
    page = reverse("compare", args=[project.workspace.slug, project.slug])
    return f"{page}?{urlencode({**fields, RUNS: ','.join(here)})}"


def _fields(query: str) -> dict[str, str]:
    try:
        fields = parse_qsl(query.replace("\0", ""), max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise InvalidInput("what is compared", "has too many fields") from error
    return {name: text for name, text in fields if name not in UNSHARED}


def _runs(project: Project, run_ids: Collection[UUID]) -> dict[UUID, str]:
    runs = Run.objects.not_in_trash().filter(project=project, id__in=run_ids)
    return dict(runs.values_list("id", "name"))


def _title(names: list[str]) -> str:
    shown = ", ".join(sorted(names)[:MOST_NAMED])
    return f"{len(names)} runs: {shown}{', …' if len(names) > MOST_NAMED else ''}"


COMPARISON = Kind(
    name="comparison",
    noun="comparison",
    contents="These runs beside each other, and the pages of each.",
    choose=choose,
    read=read,
    address=address,
)
