"""Where points lie: first in the journal, then in chunks.

Everything here is found by its run, which also decides in which partition of a
PostgreSQL table it lies: every statement names the run.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.attribute import Attribute
from tracker.models.run import Run, Spool


class JournalEntry(models.Model):
    """The points of one acknowledged batch, until compaction moves them to chunks.

    The bytes are laid out as docs/formats/journal-entry.md says.
    """

    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    spool = models.ForeignKey(Spool, models.CASCADE, db_index=False)
    first_number = models.PositiveBigIntegerField()
    last_number = models.PositiveBigIntegerField()
    point_count = models.PositiveIntegerField()
    received_at = models.DateTimeField(auto_now_add=True)
    data = models.BinaryField()
    # Set when the bytes cannot be read: kept for a person to look at, read by nobody.
    is_damaged = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "spool", "last_number"], name="journal_frame_once"
            )
        ]


class Rewind(models.Model):
    """From which step on a series was logged again, and since when.

    Points from before that time and at such steps are kept, and shown only where all
    attempts are asked for.
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
    """The steps and times of chunks, once for all series that were logged together.

    Never changed once written, but for the count of chunks that share them. `data`
    and `overview` are laid out as docs/formats/series-chunk.md says.
    """

    run = models.ForeignKey(Run, models.CASCADE)
    # Open chunks leave for others; the last one takes the row with it.
    chunk_count = models.PositiveIntegerField()
    data = models.BinaryField()
    overview = models.BinaryField()


class SeriesChunk(models.Model):
    """Some points of one series, and what a chart needs to know without them.

    Never changed once written: compaction replaces an open chunk by another row.

    `data` and `overview` are laid out as docs/formats/series-chunk.md says, which also
    says what `checksum` is.
    """

    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    # PostgreSQL cannot hold a partitioned table to this, so compaction looks itself;
    # chunks go with their run.
    series = models.ForeignKey(
        Attribute, models.DO_NOTHING, db_index=False, db_constraint=False
    )
    # None for chunks of the first version, which hold their steps and times.
    ticks = models.ForeignKey(
        SeriesTicks, models.DO_NOTHING, null=True, db_index=False, db_constraint=False
    )
    count = models.PositiveIntegerField()
    finite_count = models.PositiveIntegerField()
    first_step = models.FloatField()  # lowest, as the steps may arrive in any order
    last_step = models.FloatField()  # highest
    first_time = models.BigIntegerField()
    last_time = models.BigIntegerField()
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    total = models.FloatField()
    overview = models.BinaryField()
    data = models.BinaryField()
    # Of the nine numbers above. None where an earlier version wrote the row.
    checksum = models.IntegerField(null=True)
    # There is room for more points. At most one chunk of a series is open.
    is_open = models.BooleanField(default=False)

    class Meta:
        indexes: ClassVar = [
            # Reading a range of one series by step. SQLite's has more in it: migration 0026.
            models.Index(fields=["run", "series", "first_step"], name="chunk_by_step"),
            # Finding the chunk that new points go to, among thousands of full ones.
            models.Index(
                fields=["run", "series"],
                condition=models.Q(is_open=True),
                name="chunk_open",
            ),
        ]
