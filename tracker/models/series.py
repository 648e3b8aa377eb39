"""Storage of points: first in the journal, then in chunks.

All rows are accessed by run, which also selects the partition of a PostgreSQL table:
every statement names the run.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.attribute import Attribute
from tracker.models.run import Run, Spool


class JournalEntry(models.Model):
    """The points of one acknowledged batch, until compaction moves them to chunks.

    `data` has the format of docs/formats/journal-entry.md.
    """

    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    spool = models.ForeignKey(Spool, models.CASCADE, db_index=False)
    first_number = models.PositiveBigIntegerField()
    last_number = models.PositiveBigIntegerField()
    point_count = models.PositiveIntegerField()
    received_at = models.DateTimeField(auto_now_add=True)
    data = models.BinaryField()
    # Set when the data is unreadable: it is kept for inspection and skipped.
    is_damaged = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "spool", "last_number"], name="journal_frame_once"
            )
        ]


class Rewind(models.Model):
    """The step from which a series was logged again, and when.

    Earlier points at such steps are kept, and shown only when all attempts are
    requested.
    """

    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    path = models.CharField(max_length=1024)
    step = models.FloatField()
    time = models.BigIntegerField()  # microseconds since 1970

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "path", "time", "step"], name="rewind_once"
            )
        ]


class SeriesTicks(models.Model):
    """The steps and times of chunks, shared by all series that were logged together.

    Never changed once written, except the count of chunks. `data` and `overview` have
    the format of docs/formats/series-chunk.md.
    """

    run = models.ForeignKey(Run, models.CASCADE)
    # Open chunks are replaced; the last one deletes the row.
    chunk_count = models.PositiveIntegerField()
    data = models.BinaryField()
    overview = models.BinaryField()


class SeriesChunk(models.Model):
    """Points of one series, with their summary for charts.

    Never changed once written: compaction replaces an open chunk with a new row.

    `data`, `overview` and `checksum` have the format of docs/formats/series-chunk.md.
    """

    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    # PostgreSQL cannot enforce this on a partitioned table, so compaction checks it;
    # chunks are deleted with their run.
    series = models.ForeignKey(
        Attribute, models.DO_NOTHING, db_index=False, db_constraint=False
    )
    # None for chunks of the first format, which contain their steps and times.
    ticks = models.ForeignKey(
        SeriesTicks, models.DO_NOTHING, null=True, db_index=False, db_constraint=False
    )
    count = models.PositiveIntegerField()
    finite_count = models.PositiveIntegerField()
    first_step = models.FloatField()  # minimum, because steps may arrive in any order
    last_step = models.FloatField()  # maximum
    first_time = models.BigIntegerField()
    last_time = models.BigIntegerField()
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    total = models.FloatField()
    overview = models.BinaryField()
    data = models.BinaryField()
    # Covers the nine numbers above. None in rows of earlier versions.
    checksum = models.IntegerField(null=True)
    # The chunk has room for more points. At most one chunk of a series is open.
    is_open = models.BooleanField(default=False)

    class Meta:
        indexes: ClassVar = [
            # Reads a range of one series by step. SQLite's index has more columns:
            # migration 0026.
            models.Index(fields=["run", "series", "first_step"], name="chunk_by_step"),
            # Finds the chunk to append to, among thousands of full ones.
            models.Index(
                fields=["run", "series"],
                condition=models.Q(is_open=True),
                name="chunk_open",
            ),
        ]
