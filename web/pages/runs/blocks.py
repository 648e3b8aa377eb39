"""The data of a runs table for the browser: blocks of rows, and groups, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.urls import reverse

from tracker.errors import InvalidInput
from tracker.queries.run.namespaces import names_parameter
from tracker.queries.run_query.tree import Both
from tracker.queries.runs.column_keys import (
    ALWAYS_SHOWN,
    OF_RUN,
    PATH_MARK,
    SHOWN_IN_USE,
    SHOWN_LAST,
    of_attribute,
)
from tracker.queries.runs.filter.filters import InvalidPattern, InvalidQuery
from tracker.queries.runs.groups import GROUPS_SHOWN, RunGroup, RunGroups, run_groups
from tracker.queries.runs.nesting import (
    child_counts,
    fork_sources,
    has_children,
    level_below,
    parent_names,
)
from tracker.queries.runs.newest_runs import (
    changed_params,
    metric_paths,
    run_columns_in_use,
)
from tracker.queries.runs.table import RunRow, rows_of_project, runs_page
from web.pages.runs.cells import json_cells, json_value, milliseconds
from web.pages.runs.table_state import TableState, read_table

BLOCK = 100
# Metrics of a table for which no columns are chosen.
MAIN_METRICS = 3
NO_RUN = UUID(int=0)

# Any JSON value.
Json = dict[str, Any]


def asked_block(project_id: int, query: QueryDict, *, offset: int) -> Json:
    """Return the requested rows, or the mistake in the filter and no rows.

    A filter that is being typed is full of mistakes, and none of them is an error.
    """
    try:
        return _block(project_id, read_table(query), offset=offset, limit=BLOCK)
    except (InvalidQuery, InvalidPattern) as error:
        bare = _without_filter(query)
        nothing = _block(project_id, read_table(bare), offset=0, limit=0)
        return {**nothing, "matching": 0, "mistake": _mistake(error)}


def first_groups(project_id: int, query: QueryDict) -> Json | None:
    """Return the first groups for the page; their numbers are loaded afterwards.

    Reading the groups takes a fraction of the time of all columns' numbers. None: not
    grouped, or the query is invalid and the block endpoint reports it.
    """
    try:
        state = read_table(query)
        if not state.groups:
            return None
        found = run_groups(
            project_id, wanted=state.wanted, keys=state.groups, columns=()
        )
    except InvalidInput:
        return None
    return _groups(state, found)


def asked_groups(project_id: int, query: QueryDict) -> Json:
    """Return the requested groups; none if the query is invalid."""
    try:
        state = read_table(query)
    except (InvalidQuery, InvalidPattern) as error:
        return {"matching": 0, "groups": [], "mistake": _mistake(error)}
    return _groups(state, grouped(project_id, state))


def _groups(state: TableState, found: RunGroups) -> Json:
    return {
        "matching": found.matching,
        "is_cut": found.is_cut,
        "keys": list(state.groups),
        "columns": found.columns,
        "left_out": found.left_out,
        "groups": [_group(group) for group in found.groups],
    }


def grouped(
    project_id: int, state: TableState, *, most: int = GROUPS_SHOWN
) -> RunGroups:
    """Return the groups, with the numbers of the columns that are shown."""
    columns = shown_columns(project_id, state)
    return run_groups(
        project_id, wanted=state.wanted, keys=state.groups, columns=columns, most=most
    )


def shown_columns(project_id: int, state: TableState) -> Sequence[str]:
    """Return the keys of the columns, those that the runs suggest if none are chosen."""
    if state.columns:
        return state.columns
    metrics = metric_paths(project_id)[:MAIN_METRICS]
    params = changed_params(project_id)
    in_use = run_columns_in_use(project_id)
    return [
        *ALWAYS_SHOWN,
        *(key for key in SHOWN_IN_USE if key in in_use),
        *(PATH_MARK + path for path in [*metrics, *params]),
        *(key for key in SHOWN_LAST if key in in_use),
    ]


def _block(project_id: int, state: TableState, *, offset: int, limit: int) -> Json:
    keys = shown_columns(project_id, state)
    is_family = has_children(project_id)
    is_nested = state.parent is not None or (is_family and state.may_nest)
    wanted = state.wanted
    if is_nested:
        level = level_below(state.parent)
        query = level if wanted.query is None else Both((wanted.query, level))
        wanted = replace(wanted, query=query)
    page = runs_page(
        project_id,
        wanted=wanted,
        order=state.order,
        keys=keys,
        offset=offset,
        limit=limit,
    )
    top = rows_of_project(project_id, state.top, keys)
    url = _run_url()
    shown = [_row(row, keys, url) for row in page.rows]
    if is_family and shown:
        ids = [row.id for row in page.rows]
        if is_nested:
            _note(shown, "children", child_counts(project_id, ids))
        else:
            _note(shown, "parent", parent_names(ids))
    above = [_row(row, keys, url) for row in top]
    _note([*shown, *above], "fork", _forks([*page.rows, *top], url))
    return {
        "offset": offset,
        "total": page.total,
        "matching": page.matching,
        "columns": [{"key": key, "kind": kind_of(key)} for key in keys],
        "family": is_family,
        "nested": is_nested,
        "rows": shown,
        "top": above,
    }


# Any: JSON values.
def _note(rows: Sequence[Json], name: str, values: Mapping[UUID, Any]) -> None:
    """Add a value to the rows of the runs that have one."""
    found = {str(run_id): value for run_id, value in values.items()}
    for row in rows:
        if row["id"] in found:
            row[name] = found[row["id"]]


def _forks(rows: Sequence[RunRow], url: str) -> dict[UUID, Json]:
    return {
        run_id: {
            "name": source.name,
            "url": url.format(source.id),
            "step": source.step,
        }
        for run_id, source in fork_sources([row.id for row in rows]).items()
    }


def kind_of(key: str) -> str:
    if key in OF_RUN:
        return "run"
    column = of_attribute(key)
    is_param = column is not None and names_parameter(column.path)
    return "param" if is_param else "metric"


def _run_url() -> str:
    """Return the address of a run's page with a placeholder for the id."""
    # One call per row would take 7 % of the request.
    return reverse("run", args=[NO_RUN]).replace(str(NO_RUN), "{}")


def _row(row: RunRow, keys: Sequence[str], url: str) -> Json:
    """Present a run as JSON; lists rather than maps, so that no path is a key."""
    return {
        "id": str(row.id),
        "url": url.format(row.id),
        "name": row.name,
        "state": row.state,
        "started": milliseconds(row.started_at),
        "ended": milliseconds(row.ended_at),
        "active": [row.active_seconds, milliseconds(row.active_since)],
        # A timestamp, because a duration would change the answer each time.
        "silent": milliseconds(row.silent_since),
        "values": json_cells(row, keys),
    }


def _group(group: RunGroup) -> Json:
    return {
        "values": [json_value(value) for value in group.values],
        "count": group.count,
        "query": group.query,
        "numbers": [
            [
                numbers.count,
                *map(
                    json_value,
                    (numbers.mean, numbers.lowest, numbers.highest, numbers.best),
                ),
            ]
            for numbers in group.numbers
        ],
    }


def _without_filter(query: QueryDict) -> QueryDict:
    bare = query.copy()
    for name in ("q", "query", "within"):
        bare.pop(name, None)
    return bare


def _mistake(error: InvalidQuery | InvalidPattern) -> Json:
    if isinstance(error, InvalidPattern):
        return {"field": "q", "message": error.reason}
    return {
        "field": "query",
        "message": error.reason,
        "position": error.position,
        "length": error.length,
    }
