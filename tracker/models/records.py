"""Storage of records in chunks."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from tracker.models.attribute import Attribute
from tracker.models.run import Run

# The level of a chunk that is full.
FULL_LEVEL = 9


class RecordChunk(models.Model):
    """Consecutive records of one series, in the order of arrival.

    Never changed once written: joining replaces small chunks with a new row.

    `data` has the format of docs/formats/records.md.
    """

    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    # As with chunks of points: deleted with their run.
    series = models.ForeignKey(
        Attribute, models.DO_NOTHING, db_index=False, db_constraint=False
    )
    # The position of its first record in the series, from 0. Positions never change.
    first = models.PositiveBigIntegerField()
    count = models.PositiveIntegerField()
    first_step = models.FloatField()  # minimum, because steps may arrive in any order
    last_step = models.FloatField()  # maximum
    first_time = models.BigIntegerField()
    last_time = models.BigIntegerField()
    # Size of the values as sent, in bytes.
    value_bytes = models.PositiveIntegerField()
    # How often its records were joined with others; FULL_LEVEL: never again.
    level = models.PositiveSmallIntegerField(default=0)
    # Last, so that SQLite need not read it to reach other columns.
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "series", "first"], name="record_position_once"
            )
        ]
        indexes: ClassVar = [
            # Finds joinable chunks among thousands of full ones.
            models.Index(
                fields=["run", "series", "level"],
                condition=models.Q(level__lt=FULL_LEVEL),
                name="record_chunk_open",
            ),
        ]
