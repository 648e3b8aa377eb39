"""Indexes to sort and filter the runs of a project by what they hold."""

from typing import ClassVar

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from tracker.models.set_index import SetIndex


def take_your_time(_: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Let a large table take longer than a page may: until the end of this."""
    if editor.connection.vendor == "postgresql":
        editor.execute("SET LOCAL statement_timeout = 0")


class Migration(migrations.Migration):
    dependencies: ClassVar = [("tracker", "0002_store")]

    operations: ClassVar = [
        migrations.RunPython(take_your_time, migrations.RunPython.noop),
        migrations.AddIndex(
            "attribute",
            models.Index(
                fields=[
                    *("project", "path", "number", "run", "is_nan", "count"),
                    *("minimum", "maximum", "total", "finite_count"),
                    *("first_step", "last_step"),
                ],
                name="attribute_numbers",
            ),
        ),
        migrations.AddIndex(
            "attribute",
            models.Index(
                fields=["project", "path", "text", "run", "kind", "number"],
                condition=models.Q(number__isnull=True, text__length__lte=100),
                name="attribute_texts",
            ),
        ),
        migrations.AddIndex(
            "attribute",
            models.Index(
                fields=["project", "path", "run"],
                condition=models.Q(number__isnull=True, text__length__gt=100),
                name="attribute_long_texts",
            ),
        ),
        migrations.AddIndex(
            "attribute",
            SetIndex(
                fields=["project", "path", "run", "items"],
                condition=models.Q(items__isnull=False),
                name="attribute_sets",
            ),
        ),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["project", "started_at", "id", "trashed_at"],
                condition=models.Q(trashed_at__isnull=True),
                name="run_shown",
            ),
        ),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["project", "trashed_at", "id"],
                condition=models.Q(trashed_at__isnull=False),
                name="run_trashed",
            ),
        ),
    ]
