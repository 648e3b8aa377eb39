"""Columns of a diagnosis that its database computes of the ledger.

Reading a hundred thousand ledgers takes a database a second, and these columns an index.
Only of stages that held GPUs; of others, and without a ledger, they are null.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Case, FloatField, GeneratedField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, NullIf
from django.db.models.lookups import GreaterThan

ZERO = Value(0.0)


def seconds_of(uses: Iterable[str]) -> GeneratedField:
    """Return how long GPUs were held for these uses, in seconds."""
    return _where_held(sum((Coalesce(_number(use), ZERO) for use in uses), ZERO))


def joules() -> GeneratedField:
    """Return what the GPUs used, where they count it."""
    return _where_held(_number("energy_joules"))


def _where_held(value: Combinable) -> GeneratedField:
    held = When(GreaterThan(_number("gpus"), ZERO), then=value)
    return GeneratedField(
        expression=Case(held, output_field=FloatField()),
        output_field=FloatField(null=True),
        db_persist=True,
    )


def _number(key: str) -> Cast:
    # SQLite says "null" of JSON's null, and would take that for 0.
    return Cast(NullIf(KT(f"ledger__{key}"), Value("null")), FloatField())
