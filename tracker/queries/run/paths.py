"""The attribute paths of a project's runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from tracker.queries.run.attributes import storable

PATHS_SHOWN = 50
# Each path costs one index lookup.
PATHS_LOOKED_AT = 500
STEM = re.compile(r"[A-Za-z0-9]*")

# Walks from one distinct path to the next: a hundred index lookups instead of millions of
# rows. The ORM supports neither recursion nor this kind of subquery.
WALK = """
WITH RECURSIVE walk(path, place) AS (
    SELECT (
        SELECT path FROM tracker_attribute
        WHERE project_id = %(project)s AND path >= %(prefix)s ORDER BY path LIMIT 1
    ), 1
    UNION ALL
    SELECT (
        SELECT path FROM tracker_attribute
        WHERE project_id = %(project)s AND path > walk.path ORDER BY path LIMIT 1
    ), place + 1
    FROM walk WHERE lower(walk.path) LIKE %(stem)s AND place < %(most)s
)
SELECT path, (
    SELECT kind FROM tracker_attribute
    WHERE project_id = %(project)s AND path = walk.path LIMIT 1
) AS kind
FROM walk WHERE path IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class PathRow:
    path: str
    kind: str


def paths_beginning(project_id: int, prefix: str, *, kind: str = "") -> list[PathRow]:
    """Return the first paths that begin with `prefix`; `kind` is that of one attribute."""
    rows = walk(project_id, prefix, most=PATHS_LOOKED_AT)
    return [row for row in rows if kind in ("", row.kind)][:PATHS_SHOWN]


def walk(project_id: int, prefix: str, *, most: int) -> Iterator[PathRow]:
    if not storable([prefix]):
        return
    # In some collations, paths with other beginnings are sorted between those with the prefix,
    # but none that begins with another letter or digit.
    stem = STEM.match(prefix)
    parameters: dict[str, int | str] = {
        "project": project_id,
        "prefix": prefix,
        "stem": f"{stem[0].lower() if stem else ''}%",
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(WALK, parameters)
        for path, kind in cursor.fetchall():
            if path.startswith(prefix):
                yield PathRow(path, kind)
