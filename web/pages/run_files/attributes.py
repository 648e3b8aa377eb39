"""Everything known about a run, as a tree of namespaces opened branch by branch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_safe

from tracker.access.projects import may_edit
from tracker.access.runs import readable_run
from tracker.actions.people.audit import Action
from tracker.disclosure import seen_by
from tracker.queries.run.attributes import (
    AttributeRow,
    attribute_values,
    paths_of_texts,
    seen_paths,
)
from tracker.queries.run.files import files_at
from tracker.queries.run.namespaces import namespace
from tracker.queries.run.run import may_go_on, may_resume
from web.csv_answer import csv_answer
from web.pages.run.frame import news_of, run_frame
from web.pages.run_files.attribute_csv import csv_rows
from web.pages.run_files.attribute_tree import (
    MAX_SHOWN,
    found_level,
    level_below,
    trail,
)
from web.polling import poll_unless
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.templatetags.format import bytes_size

FILE = "file"
# Texts may be long.
AT_ONCE = 500


# Any: a row of the runs table; pages do not import tables.
def _rows(run: Any, paths: list[str]) -> dict[str, AttributeRow]:
    """Read attributes; files include their names."""
    rows = attribute_values([run.id], paths)[run.id]
    named = files_at(run, [path for path, row in rows.items() if row.kind == FILE])
    for path, file in named.items():
        text = f"{file.name}, {bytes_size(file.size)}"
        rows[path] = replace(rows[path], value=text)
    return rows


@require_safe
@signed_in
def attributes(request: PageRequest, run_id: UUID) -> HttpResponse:
    run = readable_run(request.actor, run_id)
    if "open" in request.GET and request.htmx:
        return poll_unless(
            request,
            news_of(request, run),
            lambda: render_to_string(
                "run/attributes_tree.html",
                {**_context(request, run), "is_poll": True},
                request,
            ),
        )
    context = _context(request, run)
    if request.htmx:
        return render(request, "run/attributes_level.html", context)
    return render(
        request,
        "run/attributes.html",
        {**context, **run_frame(request, run, "attributes")},
    )


# Any: as above, and a template's context.
def _context(request: PageRequest, run: Any) -> dict[str, Any]:
    prefix, after = _prefix(request), request.GET.get("after", "")
    search = request.GET.get("search", "").strip()
    path = request.GET.get("path", "")
    if path:
        # A single attribute, below its namespaces.
        prefix = f"{namespace(path)}/" if "/" in path else ""
    paths = seen_paths(run, prefix, seen=seen_by(request.actor))
    if path:
        level = found_level([each for each in paths if each == path])
    elif search:
        needle = search.casefold()
        found = {path for path in paths if needle in path.casefold()}
        found.update(set(paths_of_texts(run, search, prefix)) & set(paths))
        level = found_level(sorted(found), after=after)
    else:
        opened = frozenset(request.GET.getlist("open"))
        level = level_below(paths, prefix, after=after, opened=opened)
    query = {"prefix": prefix, "search": search, "after": level.after}
    return {
        "run": run,
        "level": level.filled(_rows(run, level.paths)),
        "prefix": prefix,
        "search": search,
        "path": path,
        "count": len(paths),
        "trail": trail(prefix),
        "is_part": bool(prefix or after or path),
        "following": urlencode({name: text for name, text in query.items() if text}),
        "next_count": min(level.hidden, MAX_SHOWN),
        "may_go_on": may_go_on(run),
        "may_resume": may_resume(run),
        "may_edit": SimpleLazyObject(lambda: may_edit(request.actor, run.project)),
    }


@require_safe
@signed_in
def attributes_csv(request: PageRequest, run_id: UUID) -> HttpResponseBase:
    """Send the attributes of a run, or those below a namespace, as a table."""
    run = readable_run(request.actor, run_id)
    paths = seen_paths(run, _prefix(request), seen=seen_by(request.actor))
    pages = (paths[start : start + AT_ONCE] for start in range(0, len(paths), AT_ONCE))
    found = (attribute_values([run.id], page)[run.id] for page in pages)
    rows = (row for each in found for _, row in sorted(each.items()))
    audit_context(request).note(
        Action.EXPORTED,
        f"attributes of {run.name}",
        run.project.workspace,
        project=run.project.slug,
    )
    return csv_answer(csv_rows(rows), f"{run.name}-attributes.csv")


def _prefix(request: PageRequest) -> str:
    prefix = request.GET.get("prefix", "")
    return "" if "\0" in prefix else prefix
