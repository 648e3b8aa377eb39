"""Points keyed by run: ticks shared by series, and partitions on PostgreSQL."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

# What grows with what is logged. Each is found by its run.
TABLES = (
    "tracker_attribute",
    "tracker_journalentry",
    "tracker_seriesticks",
    "tracker_serieschunk",
)
# As many as a machine has cores to vacuum with, and more than one disk could ask for.
PARTITIONS = 16
# Compressed already: PostgreSQL would only lose time in trying again.
COMPRESSED = {
    "tracker_journalentry": ("data",),
    "tracker_seriesticks": ("data", "overview"),
    "tracker_serieschunk": ("data", "overview"),
}


def fill_projects(apps: StateApps, _: BaseDatabaseSchemaEditor) -> None:
    run = apps.get_model("tracker", "Run").objects.filter(id=models.OuterRef("run_id"))
    attributes = apps.get_model("tracker", "Attribute").objects.filter(project=None)
    attributes.update(project_id=models.Subquery(run.values("project_id")[:1]))


def partition(_: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor != "postgresql":
        return
    with editor.connection.cursor() as cursor:
        # Foreign keys that wait for the end of the transaction would stand in the way.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in TABLES:
            for statement in statements(cursor, table):
                cursor.execute(statement)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def statements(cursor: object, table: str) -> list[str]:
    """Return what makes the table a partitioned one with the same content."""
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
    columns = read(
        cursor,
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
        " AND attnum > 0 AND NOT attisdropped",
        table,
    )
    names = ", ".join(f'"{name}"' for (name,) in columns)
    return [
        f"ALTER TABLE {table} RENAME TO {table}_before",
        f"CREATE TABLE {table} (LIKE {table}_before) PARTITION BY HASH (run_id)",
        *(
            f'ALTER TABLE {table} ALTER "{column}" SET STORAGE EXTERNAL'
            for column in COMPRESSED.get(table, ())
        ),
        *(
            f"CREATE TABLE {table}_{number} PARTITION OF {table}"
            f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
            for number in range(PARTITIONS)
        ),
        f"INSERT INTO {table} ({names}) SELECT {names} FROM {table}_before",
        f"DROP TABLE {table}_before",
        # PostgreSQL has identity columns in partitioned tables since version 17 only.
        f"CREATE SEQUENCE {table}_id_seq OWNED BY {table}.id",
        f"SELECT setval('{table}_id_seq', max(id)) FROM {table}",
        f"ALTER TABLE {table} ALTER id SET DEFAULT nextval('{table}_id_seq')",
        f"ALTER TABLE {table} ADD PRIMARY KEY (run_id, id)",
        *(
            f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}'
            for name, definition in constraints
        ),
        *(definition for (definition,) in indexes),
    ]


def read(cursor: object, query: str, table: str) -> list[tuple[str, ...]]:
    cursor.execute(query, [table])  # type: ignore[attr-defined]
    rows: list[tuple[str, ...]] = cursor.fetchall()  # type: ignore[attr-defined]
    return rows


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tracker", "0001_initial")]

    operations: ClassVar = [
        migrations.AddField(
            "project", "retention_days", models.PositiveIntegerField(null=True)
        ),
        migrations.AddField(
            "spool", "recent_checksums", models.BinaryField(default=b"")
        ),
        migrations.AlterField(
            "attribute",
            "run",
            models.ForeignKey(
                "tracker.run",
                django.db.models.deletion.CASCADE,
                db_index=False,
                related_name="attributes",
            ),
        ),
        migrations.AddField(
            "attribute",
            "project",
            models.ForeignKey(
                "tracker.project",
                django.db.models.deletion.CASCADE,
                db_index=False,
                null=True,
                related_name="+",
            ),
        ),
        migrations.RunPython(fill_projects, migrations.RunPython.noop),
        migrations.AlterField(
            "attribute",
            "project",
            models.ForeignKey(
                "tracker.project",
                django.db.models.deletion.CASCADE,
                db_index=False,
                related_name="+",
            ),
        ),
        migrations.AlterField(
            "journalentry",
            "run",
            models.ForeignKey(
                "tracker.run", django.db.models.deletion.CASCADE, db_index=False
            ),
        ),
        migrations.AlterField(
            "journalentry",
            "spool",
            models.ForeignKey(
                "tracker.spool", django.db.models.deletion.CASCADE, db_index=False
            ),
        ),
        migrations.AlterField(
            "serieschunk",
            "run",
            models.ForeignKey(
                "tracker.run", django.db.models.deletion.CASCADE, db_index=False
            ),
        ),
        migrations.AlterField(
            "serieschunk",
            "series",
            models.ForeignKey(
                "tracker.attribute",
                django.db.models.deletion.DO_NOTHING,
                db_constraint=False,
                db_index=False,
            ),
        ),
        migrations.CreateModel(
            name="SeriesTicks",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("chunk_count", models.PositiveIntegerField()),
                ("data", models.BinaryField()),
                ("overview", models.BinaryField()),
                (
                    "run",
                    models.ForeignKey("tracker.run", django.db.models.deletion.CASCADE),
                ),
            ],
        ),
        migrations.AddField(
            "serieschunk",
            "ticks",
            models.ForeignKey(
                "tracker.seriesticks",
                django.db.models.deletion.DO_NOTHING,
                db_constraint=False,
                db_index=False,
                null=True,
            ),
        ),
        migrations.RunPython(partition, migrations.RunPython.noop),
    ]
