"""What Django's models cannot express: partitions and storage of the large tables."""

from __future__ import annotations

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.utils import CursorWrapper
from django.db.migrations.state import StateApps

# Tables that grow with logged data; every statement names the run. As many partitions
# as a machine has cores for autovacuum.
PARTITIONS = 16
PARTITIONED = (
    "tracker_attribute",
    "tracker_journalentry",
    "tracker_seriesticks",
    "tracker_serieschunk",
    "tracker_recordchunk",
)
# Compressed by Seamark: PostgreSQL stores these columns as they are and samples none.
COMPRESSED = {
    "tracker_journalentry": ("data",),
    "tracker_seriesticks": ("data", "overview"),
    "tracker_serieschunk": ("data", "overview"),
    "tracker_recordchunk": ("data",),
}
# Compaction replaces rows of these. By default, autovacuum waits until a fifth of a
# table is dead, and new rows take new pages until then.
REPLACED = ("tracker_seriesticks", "tracker_serieschunk", "tracker_recordchunk")
DEAD_SHARE = 0.02
CHECKSUM_INDEX = (
    "CREATE INDEX chunk_by_step ON tracker_serieschunk"
    " (run_id, series_id, first_step, id, checksum)"
)


def arrange(_: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Partition the large tables of an empty PostgreSQL database; tune both databases."""
    if editor.connection.vendor == "sqlite":
        # SQLite reads checksums from the index, not from behind the bytes of each row.
        editor.execute("DROP INDEX chunk_by_step")
        editor.execute(CHECKSUM_INDEX)
        return
    with editor.connection.cursor() as cursor:
        # Deferred foreign keys would lock the tables until the transaction ends.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in PARTITIONED:
            for statement in partition(cursor, table):
                cursor.execute(statement)
        for table in REPLACED:
            for number in range(PARTITIONS):
                cursor.execute(
                    f"ALTER TABLE {table}_{number} SET"
                    f" (autovacuum_vacuum_scale_factor = {DEAD_SHARE},"
                    f" toast.autovacuum_vacuum_scale_factor = {DEAD_SHARE})"
                )
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def partition(cursor: CursorWrapper, table: str) -> list[str]:
    """Return the statements that replace an empty table by a partitioned one."""
    constraints = read(
        cursor,
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = %s::regclass AND contype IN ('u', 'f', 'c')",
        table,
    )
    indexes = read(
        cursor,
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE indrelid = %s::regclass AND NOT indisunique",
        table,
    )
    return [
        f"ALTER TABLE {table} RENAME TO {table}_before",
        f"CREATE TABLE {table} (LIKE {table}_before) PARTITION BY HASH (run_id)",
        *(
            statement
            for column in COMPRESSED.get(table, ())
            for statement in (
                f'ALTER TABLE {table} ALTER "{column}" SET STORAGE EXTERNAL',
                f'ALTER TABLE {table} ALTER "{column}" SET STATISTICS 0',
            )
        ),
        *(
            f"CREATE TABLE {table}_{number} PARTITION OF {table}"
            f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
            for number in range(PARTITIONS)
        ),
        *(
            f'ALTER TABLE {table}_{number} ALTER "{column}" SET STATISTICS 0'
            for column in COMPRESSED.get(table, ())
            for number in range(PARTITIONS)
        ),
        f"DROP TABLE {table}_before",
        # Before version 17, PostgreSQL has no identity columns in partitioned tables.
        f"CREATE SEQUENCE {table}_id_seq OWNED BY {table}.id",
        f"ALTER TABLE {table} ALTER id SET DEFAULT nextval('{table}_id_seq')",
        f"ALTER TABLE {table} ADD PRIMARY KEY (run_id, id)",
        *(
            f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}'
            for name, definition in constraints
        ),
        *(definition for (definition,) in indexes),
    ]


def read(cursor: CursorWrapper, query: str, table: str) -> list[tuple[str, ...]]:
    cursor.execute(query, [table])
    rows: list[tuple[str, ...]] = cursor.fetchall()
    return rows
