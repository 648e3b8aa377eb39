"""Reads columns of very many rows as two packed values.

Creating a hundred thousand Python rows takes longer than the query itself, so the database
concatenates the values, and arrays read the result directly.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Aggregate, BinaryField, FloatField, TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast
from django.db.models.sql.compiler import SQLCompiler
from numpy.typing import NDArray

Sql = tuple[str, tuple[str | int, ...]]
# Ids as two numbers each: the first half and the second half.
Ids = NDArray[np.uint64]
Floats = NDArray[np.float64]

BYTES_OF_ID = 16
# The golden ratio as a fraction of 64 bits, which spreads consecutive numbers widely.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class PackedIds(Aggregate):
    """The ids of runs, in the row order in which other columns are packed."""

    output_field = BinaryField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        # SQLite stores ids as hexadecimal texts.
        template = "group_concat(%(expressions)s, '')"
        return self.as_sql(compiler, connection, template=template)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        template = "string_agg(uuid_send(%(expressions)s), ''::bytea)"
        return self.as_sql(compiler, connection, template=template)


class PackedNumbers(Aggregate):
    """The numbers of rows that have one."""

    output_field = BinaryField()

    def __init__(self, number: Combinable) -> None:
        super().__init__(Cast(number, FloatField()))

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        # A custom function in our SQLite.
        template = "packed_numbers(%(expressions)s)"
        return self.as_sql(compiler, connection, template=template)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> Sql:
        template = "string_agg(float8send(%(expressions)s), ''::bytea)"
        return self.as_sql(compiler, connection, template=template)


class PackedTexts(Aggregate):
    """Texts as one JSON array; for PostgreSQL only."""

    template = "json_agg(%(expressions)s)::text"
    output_field = TextField()


def packed_bytes(packed: str | bytes | None) -> bytes:
    """Return packed ids as bytes; empty without rows."""
    if isinstance(packed, str):
        return bytes.fromhex(packed)
    return bytes(packed or b"")


def ids_in(packed: bytes) -> Ids:
    return np.frombuffer(packed, ">u8").astype(np.uint64).reshape(-1, 2)


def uuids_in(packed: bytes) -> list[UUID]:
    return [
        UUID(bytes=packed[start : start + BYTES_OF_ID])
        for start in range(0, len(packed), BYTES_OF_ID)
    ]


def numbers_in(packed: bytes | None) -> Floats:
    # Both databases use network byte order.
    return np.frombuffer(packed or b"", ">f8").astype(np.float64)


class Places:
    """The index of each run among very many runs, as a hash table."""

    def __init__(self, ids: Ids) -> None:
        order = np.lexsort((ids[:, 1], ids[:, 0]))
        # Contiguous arrays are faster to search.
        self._first = np.ascontiguousarray(ids[order, 0])
        self._second = np.ascontiguousarray(ids[order, 1])
        # The table gives the index of most ids directly; if two ids share a slot, one of them needs
        # a search.
        bits = max(1, (8 * len(ids)).bit_length())
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.int32)
        self._table[self._slots(self._first)] = np.arange(len(ids))
        # Maximum number of ids with an equal first half: 1 for almost all sets of random ids.
        begins = np.flatnonzero(self._first[1:] != self._first[:-1]) + 1
        ends = np.concatenate(([0], begins, [len(ids)]))
        self._most_alike = int(np.diff(ends).max())

    def __len__(self) -> int:
        return len(self._first)

    def find(self, ids: Ids) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the index of each of these ids, and which of them were found."""
        first, second = ids[:, 0].copy(), ids[:, 1].copy()
        if not len(self):
            return np.zeros(len(ids), np.intp), np.zeros(len(ids), np.bool_)
        places = self._table[self._slots(first)].astype(np.intp)
        missed = np.flatnonzero(~self._are_at(places, first, second))
        places[missed] = self._searched(first[missed], second[missed])
        return places, self._are_at(places, first, second)

    def _slots(self, first: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return (first * SPREAD) >> self._shift

    def _are_at(
        self,
        places: NDArray[np.intp],
        first: NDArray[np.uint64],
        second: NDArray[np.uint64],
    ) -> NDArray[np.bool_]:
        begins: NDArray[np.bool_] = self._first[places] == first
        ends: NDArray[np.bool_] = self._second[places] == second
        return begins & ends

    def _searched(
        self, first: NDArray[np.uint64], second: NDArray[np.uint64]
    ) -> NDArray[np.intp]:
        last = len(self) - 1
        places = np.minimum(np.searchsorted(self._first, first), last)
        for _ in range(self._most_alike - 1):
            is_behind = (self._first[places] == first) & (self._second[places] < second)
            places = np.minimum(places + is_behind, last)
        return places
