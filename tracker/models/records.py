"""Where records lie: in chunks, from the moment a batch is stored."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.attribute import Attribute
from tracker.models.run import Run

# A chunk that is as full as it will get.
FULL_LEVEL = 9


class RecordChunk(models.Model):
    """Consecutive records of one series, in the order in which they arrived.

    Never changed once written: joining replaces small chunks by another row.

    `data` is laid out as docs/formats/records.md says.
    """

    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    # As with chunks of points: they go with their run.
    series = models.ForeignKey(
        Attribute, models.DO_NOTHING, db_index=False, db_constraint=False
    )
    # The position of its first record in the series, from 0 on. Positions never change.
    first = models.PositiveBigIntegerField()
    count = models.PositiveIntegerField()
    first_step = models.FloatField()  # lowest, as the steps may arrive in any order
    last_step = models.FloatField()  # highest
    first_time = models.BigIntegerField()
    last_time = models.BigIntegerField()
    # Of the values as they were sent, in bytes.
    value_bytes = models.PositiveIntegerField()
    # How often its records were joined with others; FULL_LEVEL once never again.
    level = models.PositiveSmallIntegerField(default=0)
    # Last, so that SQLite need not read it to find out what stands before it.
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "series", "first"], name="record_position_once"
            )
        ]
        indexes: ClassVar = [
            # Finding what may be joined, among thousands of full ones.
            models.Index(
                fields=["run", "series", "level"],
                condition=models.Q(level__lt=FULL_LEVEL),
                name="record_chunk_open",
            ),
        ]
