"""PostgreSQL clears up soon after compaction, and keeps no statistics of bytes."""

from collections.abc import Iterator
from typing import ClassVar

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

# Compaction replaces rows of these. By default, autovacuum comes when a fifth of a
# table is dead, and until then what is new takes new pages.
REPLACED = ("tracker_seriesticks", "tracker_serieschunk")
DEAD_SHARE = 0.02
# Samples of these would be kept for each partition, and nothing is ever looked for
# by them.
BYTES = {
    "tracker_journalentry": ("data",),
    "tracker_seriesticks": ("data", "overview"),
    "tracker_serieschunk": ("data", "overview"),
}
PARTITIONS = 16


def tune(_: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        for statement in statements():
            editor.execute(statement)


def statements() -> Iterator[str]:
    """Yield what stops neither readers nor writers."""
    for table, columns in BYTES.items():
        for column in columns:
            yield f'ALTER TABLE {table} ALTER "{column}" SET STATISTICS 0'
    for table in REPLACED:
        # A partitioned table has no pages, and takes no such settings.
        for number in range(PARTITIONS):
            yield (
                f"ALTER TABLE {table}_{number} SET"
                f" (autovacuum_vacuum_scale_factor = {DEAD_SHARE},"
                f" toast.autovacuum_vacuum_scale_factor = {DEAD_SHARE})"
            )


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tracker", "0005_silent_spools")]

    operations: ClassVar = [migrations.RunPython(tune, migrations.RunPython.noop)]
