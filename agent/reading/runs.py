"""Reads stored data back: runs of a project, and their names.

Not for training loops: it sends requests and waits for the responses. pandas and
pyarrow are imported only by the methods that return their types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload
from uuid import UUID

from seamark.errors import CannotRead, InvalidSetting
from seamark.reading.client import Json, ask, rows_of
from seamark.reading.project import StoredProject, find_project, known_server
from seamark.reading.run import StoredRun, stored_run

if TYPE_CHECKING:
    import pandas
    import pyarrow

_PAGE = 200
_MAX_COLUMNS = 50
_INT64 = range(-(2**63), 2**63)


def read_projects() -> list[Json]:
    """Return the projects that the token may read, as API objects."""
    return ask(known_server(), "/projects", _projects)


def read_runs(
    query: str,
    *,
    project: str | None,
    sort: str,
    columns: Sequence[str] | str,
    limit: int | None,
) -> Runs:
    """See `agent.runs`."""
    found = find_project(project)
    paths = [columns] if isinstance(columns, str) else list(dict.fromkeys(columns))
    if len(paths) > _MAX_COLUMNS:
        raise InvalidSetting("columns", f"must be at most {_MAX_COLUMNS}")

    def take(page: Json) -> tuple[list[StoredRun], str | None]:
        return [stored_run(found, row, paths) for row in page["runs"]], page["next"]

    parameters = {"query": query, "sort": sort, "column": paths}
    rows: list[StoredRun] = []
    cursor: str | None = ""
    while cursor is not None and (limit is None or len(rows) < limit):
        most = _PAGE if limit is None else min(_PAGE, limit - len(rows))
        some, cursor = found.ask("/runs", take, **parameters, limit=most, cursor=cursor)
        rows += some
    return Runs(rows, tuple(paths))


def read_run(name: str, *, project: str | None) -> StoredRun:
    """See `agent.open_run`."""
    return _run_by_id(name, project) or _run_by_name(name, find_project(project))


class Runs(Sequence[StoredRun]):
    """Runs in the requested order."""

    def __init__(self, rows: Sequence[StoredRun], columns: tuple[str, ...]) -> None:
        self._rows = rows
        self._columns = columns

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> StoredRun: ...
    @overload
    def __getitem__(self, place: slice) -> Runs: ...
    def __getitem__(self, place: int | slice) -> StoredRun | Runs:
        """Return a run, or a slice of the runs."""
        if isinstance(place, slice):
            return Runs(self._rows[place], self._columns)
        return self._rows[place]

    def __repr__(self) -> str:
        return f"<{len(self)} runs>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run; needs pandas.

        The columns are id, name, state, started_at, ended_at and tags, and the
        requested paths; a path with the name of one of these becomes `path:<name>`.
        Integer columns with missing values have the dtype Int64.
        """
        import pandas as pd  # noqa: PLC0415 - an optional package

        columns: Json = self._by_column()
        for name, values in columns.items():
            if _are_integers_with_gaps(values):
                fit = all(value is None or value in _INT64 for value in values)
                columns[name] = pd.array(values, dtype="Int64" if fit else object)
        return pd.DataFrame(columns)

    def to_arrow(self) -> pyarrow.Table:
        """Return a table with the same columns; needs pyarrow.

        A column with values of several types, for example a parameter logged as a
        number and as a text, becomes a column of texts.
        """
        import pyarrow as pa  # noqa: PLC0415 - an optional package

        # Any: a column of pyarrow.
        def column(values: Sequence[object]) -> Any:
            try:
                return pa.array(values)
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                texts = [None if value is None else str(value) for value in values]
                return pa.array(texts)

        columns = self._by_column()
        return pa.table({name: column(values) for name, values in columns.items()})

    def _by_column(self) -> dict[str, list[object]]:
        own = {
            name: [getattr(row, name) for row in self._rows] for name in _RUN_COLUMNS
        }
        # The `path:` prefix distinguishes attributes from the run's own fields, as in
        # `sort`.
        columns = {
            f"path:{path}" if path in own else path: [
                row.values.get(path) for row in self._rows
            ]
            for path in self._columns
        }
        return {**own, **columns}


_RUN_COLUMNS = ("id", "name", "state", "started_at", "ended_at", "tags")


def _are_integers_with_gaps(values: Sequence[object]) -> bool:
    return {type(value) for value in values} == {int, type(None)}


def _projects(answer: Json) -> list[Json]:
    counts = (f"{name}_count" for name in ("run", "running", "failed"))
    names = ("workspace", "slug", "last_activity_at", *counts)
    return rows_of(answer["projects"], *names)


def _run_by_name(name: str, project: StoredProject) -> StoredRun:
    def take(page: Json) -> tuple[list[StoredRun], str | None]:
        named = [row for row in page["runs"] if row["name"] == name]
        return [stored_run(project, row) for row in named], page["next"]

    cursor: str | None = ""
    while cursor is not None:
        found, cursor = project.ask(
            "/runs", take, search=name, limit=_PAGE, cursor=cursor
        )
        if found:
            return found[0]
    raise CannotRead("not_found", f"{project} has no run {name!a}.")


def _run_by_id(name: str, project: str | None) -> StoredRun | None:
    """Return the run with that id in any project; None if it is not an id."""
    try:
        place = f"/runs/{UUID(name)}"
    except ValueError:
        return None
    server = known_server()

    def take(row: Json) -> StoredRun:
        if "project" not in row:
            # Older servers do not return the project.
            return stored_run(find_project(project), row)
        own = StoredProject(server, str(row["workspace"]), str(row["project"]))
        return stored_run(own, row)

    try:
        run = ask(server, place, take)
    except CannotRead as error:
        if error.code == "not_found":
            return None
        raise
    if (
        project is not None
        and (requested := find_project(project)).qualified != run.project
    ):
        raise CannotRead(
            "not_found",
            f"{requested} has no run {name!a}: it belongs to {run.project}.",
        )
    return run
