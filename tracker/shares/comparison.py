"""A comparison of runs: its tabs of measurements, and the pages of its runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

import orjson
from django.urls import reverse

from tracker.actor import Part
from tracker.boards.shared_panels import is_shown
from tracker.errors import InvalidInput, NotFound
from tracker.models import Project, Run
from tracker.queries.compare.comparison import RUNS_AT_MOST
from tracker.queries.runs.columns import each_of
from tracker.shares.kind import Chosen, Kind, Shared
from tracker.short_ids import read_id, shortened

RUNS, LAYOUT = "runs", "layout"
FEWEST = 2
RUNS_AT_ONCE = 5_000
LONGEST_QUERY = 4_000
# If the run ids are longer than this, their digest identifies the comparison.
MAX_TARGET_CHARACTERS = 1_000
MAX_FIELDS = 60
MAX_NAMED = 3
# Query fields that name other runs or source code, which are never shared.
UNSHARED = frozenset(("among", "query", "left", "right", "view"))
# Query fields that name parameters and other values.
OF_VALUES = frozenset(
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
    )
)

Fields = list[tuple[str, str]]


def choose(project: Project, of: str) -> Chosen:
    """Parse the query of the comparison's page; missing runs are skipped."""
    fields = [field for field in _fields(of) if field[0] not in UNSHARED]
    requested = _run_ids(fields)
    if len(requested) > RUNS_AT_MOST:
        raise InvalidInput(RUNS, f"must be at most {RUNS_AT_MOST} for a link")
    found = _names(project, requested)
    ids = [run_id for run_id in requested if run_id in found]
    if len(ids) < FEWEST:
        raise InvalidInput(RUNS, "must be two or more of this workspace")
    fields = _with_panels(fields, frozenset(Part))
    query = _query(ids, fields)
    if len(query) > LONGEST_QUERY:
        query = _query(ids, _without_panels(fields))
    if len(query) > LONGEST_QUERY:
        # With many runs, the chart layout is the part that can be dropped.
        query = _query(ids, [field for field in fields if field[0] != LAYOUT])
    if len(query) > LONGEST_QUERY:
        raise InvalidInput("the comparison", "needs an address that is too long")
    return Chosen(_target_id(ids), query)


def kept(query: str, parts: frozenset[Part]) -> str:
    """Remove fields and panels that name values, unless the link shares them."""
    fields = _with_panels(_fields(query), parts)
    if Part.CONFIG not in parts:
        fields = [field for field in fields if field[0] not in OF_VALUES]
    return _query(_run_ids(fields), fields)


def read(project: Project, chosen: Collection[Chosen]) -> dict[str, Shared]:
    """Return the existing part of each comparison; trashed runs are skipped, as on the
    page.
    """
    ids_by_target = {each.thing: _run_ids(_fields(each.query)) for each in chosen}
    names = _names(
        project, {run_id for ids in ids_by_target.values() for run_id in ids}
    )
    found = {}
    for target_id, ids in ids_by_target.items():
        here = [run_id for run_id in ids if run_id in names]
        if here:
            title = _title([names[run_id] for run_id in here])
            found[target_id] = Shared(title, {"run": frozenset(here)})
    return found


def address(project: Project, shared: Shared, query: str) -> str:
    fields = _fields(query)
    here = [run_id for run_id in _run_ids(fields) if run_id in shared.things["run"]]
    page = reverse("compare", args=[project.workspace.slug, project.slug])
    return f"{page}?{_query(here, fields)}"


def _fields(query: str) -> Fields:
    try:
        return parse_qsl(query.replace("\0", ""), max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise InvalidInput("the comparison", "has too many fields") from error


def _query(run_ids: Sequence[UUID], fields: Fields) -> str:
    """Build a query with these runs; short ids make room for the other fields."""
    runs = ",".join(map(shortened, run_ids))
    others = [field for field in fields if field[0] != RUNS]
    return urlencode([(RUNS, runs), *others], safe=",")


def _without_panels(fields: Fields) -> Fields:
    return _with_kinds(fields, lambda _: False)


def _with_panels(fields: Fields, parts: frozenset[Part]) -> Fields:
    """Remove the panels that a link with these parts does not show."""
    return _with_kinds(fields, lambda kind: is_shown(kind, parts))


def _with_kinds(fields: Fields, is_kept: Callable[[str], bool]) -> Fields:
    return [
        (name, _layout_with(value, is_kept) if name == LAYOUT else value)
        for name, value in fields
    ]


def _layout_with(layout: str, is_kept: Callable[[str], bool]) -> str:
    try:
        arrangement = orjson.loads(layout)
    except ValueError:
        return layout
    if not isinstance(arrangement, dict) or "panels" not in arrangement:
        return layout
    panels = arrangement.pop("panels")
    kept_panels = [
        panel
        for panel in (panels if isinstance(panels, list) else [])
        if isinstance(panel, dict) and is_kept(str(panel.get("kind")))
    ]
    if kept_panels:
        arrangement["panels"] = kept_panels
    return orjson.dumps(arrangement).decode()


def _run_ids(fields: Fields) -> list[UUID]:
    """Return the runs of a query, without duplicates."""
    found: dict[UUID, None] = {}
    for text in dict(fields).get(RUNS, "").split(","):
        run_id = read_id(text)
        if run_id is None:
            raise NotFound("run")
        found[run_id] = None
    return list(found)


def _target_id(run_ids: Collection[UUID]) -> str:
    """Return an identifier of the set of runs, in any order."""
    ids = ",".join(sorted(map(str, run_ids)))
    if len(ids) <= MAX_TARGET_CHARACTERS:
        return ids
    return hashlib.sha256(ids.encode()).hexdigest()


def _names(project: Project, run_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of those runs that belong to the project's workspace."""
    found: dict[UUID, str] = {}
    ids = list(run_ids)
    # Many links may have more runs than a SQLite statement takes.
    for low in range(0, len(ids), RUNS_AT_ONCE):
        some = ids[low : low + RUNS_AT_ONCE]
        runs = Run.objects.not_in_trash().filter(id__in=each_of(some))
        runs = runs.filter(project__workspace=project.workspace_id)
        found.update(runs.values_list("id", "name"))
    return found


def _title(names: list[str]) -> str:
    shown = ", ".join(sorted(names)[:MAX_NAMED])
    # Without words, because it is shown in the reader's language.
    return f"{shown}, … ({len(names)})" if len(names) > MAX_NAMED else shown


COMPARISON = Kind(
    name="comparison",
    noun="comparison",
    contents="The comparison of these runs with its charts, text, media and tables,"
    " and the pages of each run.",
    choose=choose,
    read=read,
    address=address,
    kept=kept,
)
