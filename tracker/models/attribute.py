"""A named attribute of a run: a value, or the summary of a series."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Length

from tracker.models.project import Project
from tracker.models.run import Run
from tracker.models.set_index import SetIndex

# Texts up to this length are indexed for filters and sorting.
SHORT_CHARACTERS = 100

models.TextField.register_lookup(Length)


class Kind(models.TextChoices):
    FLOAT = "float"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    STRING = "string"
    DATETIME = "datetime"
    STRING_SET = "string_set"
    # An explicit Python None.
    NONE = "none"
    FLOAT_SERIES = "float_series"
    # Series of records; see tracker/records.
    TEXT_SERIES = "text_series"
    HISTOGRAM_SERIES = "histogram_series"
    IMAGE_SERIES = "image_series"
    FILE_SERIES = "file_series"
    FILE = "file"


class Attribute(models.Model):
    """One row per run and path, so that runs can be sorted and filtered by it."""

    run = models.ForeignKey(
        Run, models.CASCADE, related_name="attributes", db_index=False
    )
    # Copied from the run, so that an index finds the runs of a project by value.
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False
    )
    path = models.CharField(max_length=1024)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    updated_at = models.DateTimeField(auto_now=True)
    # Single values only: set before training, or in a namespace such as `config/`.
    # NULL: stored before this field existed.
    is_parameter = models.BooleanField(null=True)

    # float, integer, boolean (0 or 1), and a series' last value. SQLite stores NaN as
    # NULL, so NaN is a separate flag on both databases.
    number = models.FloatField(null=True)
    is_nan = models.BooleanField(default=False)
    # string; "None" for none, so that queries find it; an integer too large for a
    # float, exactly; datetime as ISO 8601 in UTC; the digest of a file.
    text = models.TextField(null=True)
    # string_set, sorted.
    items = models.JSONField(null=True)

    # Series only. Minimum and maximum ignore NaN; total and finite_count also ignore
    # infinities, so that their ratio is a mean.
    count = models.PositiveBigIntegerField(default=0)
    finite_count = models.PositiveBigIntegerField(default=0)
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    total = models.FloatField(default=0.0)
    first_step = models.FloatField(null=True)
    last_step = models.FloatField(null=True)
    first_time = models.BigIntegerField(null=True)  # microseconds since 1970, UTC
    last_time = models.BigIntegerField(null=True)
    # Series only. The spool of the process that writes it; once several processes have
    # written concurrently, all of them: [[rank, stage, host, process], …].
    writer = models.UUIDField(null=True)
    writers = models.JSONField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "path"], name="attribute_path_once_per_run"
            )
        ]
        indexes: ClassVar = [
            # All columns by which runs are sorted and filtered: a page of the runs table
            # reads a range of this index and no rows. See docs/decisions/query-language.md.
            models.Index(
                fields=[
                    *("project", "path", "number", "run", "is_nan", "count"),
                    *("minimum", "maximum", "total", "finite_count"),
                    *("first_step", "last_step"),
                ],
                name="attribute_numbers",
            ),
            # Most texts are short; a long one would not fit into a PostgreSQL index.
            models.Index(
                fields=["project", "path", "text", "run", "kind", "number"],
                condition=models.Q(
                    number__isnull=True, text__length__lte=SHORT_CHARACTERS
                ),
                name="attribute_texts",
            ),
            models.Index(
                fields=["project", "path", "run"],
                condition=models.Q(
                    number__isnull=True, text__length__gt=SHORT_CHARACTERS
                ),
                name="attribute_long_texts",
            ),
            SetIndex(
                fields=["project", "path", "run", "items"],
                condition=models.Q(items__isnull=False),
                name="attribute_sets",
            ),
        ]

    def __str__(self) -> str:
        return self.path
