"""Tables of a run's media: pages of rows, and all rows as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.access.objects import readable_run
from tracker.errors import NotFound
from tracker.files import downloads
from tracker.queries.run.files import read_file
from web.csv_answer import Row, csv_answer
from web.pages.charts.chart_options import named_path
from web.pages.reports.blocks import key_of
from web.pages.run_files.tables import Cell, StoredTable, page_of, read_table
from web.session import PageRequest, signed_in

TABLE_BYTES = 64 * 1024 * 1024
MAX_DIGITS = 6


@require_safe
@signed_in
def media_table(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Return some rows of a table, sorted and filtered."""
    run = readable_run(request.actor, run_id)
    path, digest = named_path(request.GET), request.GET.get("digest", "")
    table = _table(run, path, digest)
    text, sort = request.GET.get("text", "")[:1_000], _number(request, "sort")
    is_descending = request.GET.get("order") == "descending"
    page = page_of(
        table,
        text=text,
        sort=sort,
        is_descending=is_descending,
        page=_number(request, "page") or 0,
    )
    about = urlencode({"path": path, "digest": digest})
    context = {
        "table_id": f"table-{key_of(f'{run.id} {path} {digest}')}",
        "address": f"{reverse('run-media-table', args=[run.id])}?{about}",
        "csv_address": f"{reverse('run-media-table-csv', args=[run.id])}?{about}",
        "path": path,
        "columns": list(enumerate(table.columns)),
        "table": table,
        "page": page,
        "text": text,
        "sort": sort,
        "order": "descending" if is_descending else "ascending",
        "previous": page.page - 1 if page.page else None,
        "next": page.page + 1 if page.page + 1 < page.pages else None,
    }
    return render(request, "run/_media_table.html", context)


@require_safe
@signed_in
def media_table_csv(request: PageRequest, run_id: UUID) -> HttpResponseBase:
    """Send all stored rows of a table."""
    run = readable_run(request.actor, run_id)
    path = named_path(request.GET)
    table = _table(run, path, request.GET.get("digest", ""))
    return csv_answer(_csv_rows(table), f"{path.rpartition('/')[2] or 'table'}.csv")


# Any: a row of the runs table; pages do not import tables.
def _table(run: Any, path: str, digest: str) -> StoredTable:
    row = read_file(run, path, digest)
    if row.size > TABLE_BYTES:
        raise NotFound("table")
    table = read_table(downloads.beginning(row, TABLE_BYTES))
    if table is None:
        raise NotFound("table")
    return table


def _csv_rows(table: StoredTable) -> Iterator[Row]:
    yield table.columns
    for row in table.rows:
        yield [_csv_cell(cell) for cell in row]


def _csv_cell(cell: Cell) -> str | float | None:
    if cell.image:
        return "(image)"
    return cell.number if cell.number is not None else cell.text or None


def _number(request: PageRequest, name: str) -> int | None:
    text = request.GET.get(name, "")[:MAX_DIGITS]
    return int(text) if text.isascii() and text.isdigit() else None
