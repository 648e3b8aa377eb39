"""Tables of a run's media: pages of rows, and all rows as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from tracker.access.runs import readable_run
from tracker.errors import NotFound
from tracker.files import downloads
from tracker.queries.run.files import FileRow, read_file
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
    about = urlencode({"path": path, "digest": digest})
    address, csv_address = (
        f"{reverse(route, args=[run.id])}?{about}"
        for route in ("run-media-table", "run-media-table-csv")
    )
    return table_answer(request, read_file(run, path, digest), address, csv_address)


def table_answer(
    request: HttpRequest, row: FileRow, address: str, csv_address: str
) -> HttpResponse:
    """Return some rows of a stored table; the addresses are its own and that of all rows."""
    table = _table(row)
    text, sort = request.GET.get("text", "")[:1_000], _number(request, "sort")
    is_descending = request.GET.get("order") == "descending"
    page = page_of(
        table,
        text=text,
        sort=sort,
        is_descending=is_descending,
        page=_number(request, "page") or 0,
    )
    context = {
        "table_id": f"table-{key_of(address)}",
        "address": address,
        "csv_address": csv_address,
        "path": row.path,
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
    digest = request.GET.get("digest", "")
    return csv_of_table(read_file(run, named_path(request.GET), digest))


def csv_of_table(row: FileRow) -> HttpResponseBase:
    """Return all stored rows of a table as a download."""
    name = row.path.rpartition("/")[2] or "table"
    return csv_answer(_csv_rows(_table(row)), f"{name}.csv")


def _table(row: FileRow) -> StoredTable:
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


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")[:MAX_DIGITS]
    return int(text) if text.isascii() and text.isdigit() else None
