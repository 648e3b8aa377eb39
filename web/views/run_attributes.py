"""Everything known about a run, as a tree of namespaces opened branch by branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tracker.access import readable_run
from tracker.queries.attributes import AttributeRow, list_attributes
from web.session import PageRequest, signed_in
from web.views.run_frame import run_frame

# One branch, or one search, never shows more at once.
MOST_SHOWN = 500
# What people logged themselves is open from the start, unless it is much.
OPEN_AT_MOST = 20
MONITORING = "monitoring/"


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    prefix: str  # its whole path, slash included
    count: int

    @property
    def is_open(self) -> bool:
        return self.count <= OPEN_AT_MOST and not self.prefix.startswith(MONITORING)


@dataclass(frozen=True, slots=True)
class Level:
    """What lies directly below a prefix."""

    branches: list[Branch]
    leaves: list[tuple[str, AttributeRow]]
    hidden: int


@require_safe
@signed_in
def attributes(request: PageRequest, run_id: UUID) -> HttpResponse:
    prefix = request.GET.get("prefix", "")
    search = request.GET.get("search", "").strip()
    if "\0" in prefix:
        prefix = ""
    run = readable_run(request.actor, run_id)
    rows = list_attributes(run, prefix=prefix)
    level = found(rows, search) if search else level_below(rows, prefix)
    context = {
        "run": run,
        "level": level,
        "search": search,
        "count": len(rows),
    }
    if request.htmx:
        return render(request, "run/attributes_level.html", context)
    return render(
        request,
        "run/attributes.html",
        {**run_frame(request, run_id, "attributes"), **context},
    )


def level_below(rows: Sequence[AttributeRow], prefix: str) -> Level:
    counts: dict[str, int] = {}
    leaves = []
    for row in rows:
        name, slash, _ = row.path.removeprefix(prefix).partition("/")
        if slash:
            counts[name] = counts.get(name, 0) + 1
        else:
            leaves.append((name, row))
    branches = [
        Branch(name, f"{prefix}{name}/", count) for name, count in counts.items()
    ]
    hidden = max(0, len(branches) - MOST_SHOWN) + max(0, len(leaves) - MOST_SHOWN)
    return Level(branches[:MOST_SHOWN], leaves[:MOST_SHOWN], hidden)


def found(rows: Sequence[AttributeRow], search: str) -> Level:
    """Return what the search matches, by whole path: in paths and in text values."""
    wanted = search.casefold()
    leaves = [(row.path, row) for row in rows if wanted in _text(row)]
    return Level([], leaves[:MOST_SHOWN], max(0, len(leaves) - MOST_SHOWN))


def _text(row: AttributeRow) -> str:
    value = row.value if isinstance(row.value, str) else ""
    return f"{row.path}\n{value}".casefold()
