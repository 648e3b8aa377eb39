"""Records: what series hold that are not of numbers, in chunks keyed by run."""

from collections.abc import Iterator
from importlib import import_module
from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

TABLE = "tracker_recordchunk"
DEAD_SHARE = 0.02
KINDS = [
    ("float", "Float"),
    ("integer", "Integer"),
    ("boolean", "Boolean"),
    ("string", "String"),
    ("datetime", "Datetime"),
    ("string_set", "String Set"),
    ("float_series", "Float Series"),
    ("text_series", "Text Series"),
    ("histogram_series", "Histogram Series"),
]


def widen(_: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    # SQLite keeps texts of any length, and would copy the whole table.
    if editor.connection.vendor == "postgresql":
        editor.execute(
            "ALTER TABLE tracker_attribute ALTER COLUMN kind TYPE varchar(16)"
        )


def partition(_: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor != "postgresql":
        return
    # As the other tables that grow with what is logged; that one never changes.
    store = import_module("migrations.0002_store")
    with editor.connection.cursor() as cursor:
        for statement in [*store.statements(cursor, TABLE), *tuning(store.PARTITIONS)]:
            cursor.execute(statement)


def tuning(partitions: int) -> Iterator[str]:
    """Yield what 0006 says of chunks of points: they are replaced likewise."""
    yield f'ALTER TABLE {TABLE} ALTER "data" SET STATISTICS 0'
    for number in range(partitions):
        # Compressed already.
        yield f'ALTER TABLE {TABLE}_{number} ALTER "data" SET STORAGE EXTERNAL'
        yield (
            f"ALTER TABLE {TABLE}_{number} SET"
            f" (autovacuum_vacuum_scale_factor = {DEAD_SHARE},"
            f" toast.autovacuum_vacuum_scale_factor = {DEAD_SHARE})"
        )


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tracker", "0006_vacuum")]

    operations: ClassVar = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(widen, migrations.RunPython.noop)
            ],
            state_operations=[
                migrations.AlterField(
                    "attribute",
                    "kind",
                    models.CharField(choices=KINDS, max_length=16),
                )
            ],
        ),
        migrations.CreateModel(
            name="RecordChunk",
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
                ("first", models.PositiveBigIntegerField()),
                ("count", models.PositiveIntegerField()),
                ("first_step", models.FloatField()),
                ("last_step", models.FloatField()),
                ("first_time", models.BigIntegerField()),
                ("last_time", models.BigIntegerField()),
                ("value_bytes", models.PositiveIntegerField()),
                ("level", models.PositiveSmallIntegerField(default=0)),
                (
                    "run",
                    models.ForeignKey(
                        "tracker.run",
                        django.db.models.deletion.CASCADE,
                        db_index=False,
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        "tracker.attribute",
                        django.db.models.deletion.DO_NOTHING,
                        db_constraint=False,
                        db_index=False,
                    ),
                ),
                ("data", models.BinaryField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["run", "series", "first"], name="record_position_once"
                    )
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(level__lt=9),
                        fields=["run", "series", "level"],
                        name="record_chunk_open",
                    )
                ],
            },
        ),
        migrations.RunPython(partition, migrations.RunPython.noop),
    ]
