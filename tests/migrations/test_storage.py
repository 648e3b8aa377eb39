"""PostgreSQL storage settings of the tables whose rows compaction replaces."""

from __future__ import annotations

import pytest
from django.db import connection

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PARTITIONS_AND_THEIR_TOAST = """
SELECT parent.relname, part.reloptions, toast.reloptions
FROM pg_inherits
JOIN pg_class AS parent ON parent.oid = inhparent AND parent.relkind = 'p'
JOIN pg_class AS part ON part.oid = inhrelid
JOIN pg_class AS toast ON toast.oid = part.reltoastrelid
WHERE parent.relname
  IN ('tracker_serieschunk', 'tracker_seriesticks', 'tracker_recordchunk')
"""
# `data` and `overview` of partitions, with their statistics target.
BYTES = """
SELECT attrelid::regclass::text, attname, attstattarget FROM pg_attribute
JOIN pg_class ON pg_class.oid = attrelid AND relkind = 'r' AND relispartition
WHERE atttypid = 'bytea'::regtype
"""


@pytest.fixture
def rows():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has neither vacuum nor statistics like these")

    def read(query):
        with connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchall()

    return read


def test_vacuum_comes_before_a_fifth_of_the_chunks_is_dead(rows):
    early = ["autovacuum_vacuum_scale_factor=0.02"]
    found = rows(PARTITIONS_AND_THEIR_TOAST)

    assert {table for table, _, _ in found} == {
        "tracker_recordchunk",
        "tracker_serieschunk",
        "tracker_seriesticks",
    }
    assert all(part == toast == early for _, part, toast in found)


def test_no_statistics_are_kept_of_bytes(rows):
    found = rows(BYTES)

    assert {name for _, name, _ in found} == {"data", "overview"}
    assert {target for _, _, target in found} == {0}
