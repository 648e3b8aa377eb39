"""The union member in which the real driver returns each requested field."""

from __future__ import annotations

import ctypes
import time
from itertools import chain

import pynvml
import pytest

from seamark.probes.nvidia import fields, gpm, identity, polled
from seamark.probes.nvidia.fields import FieldValues, number_of
from tests.gpu.card import handle, torch
from tests.gpu.workloads import COPIED_BYTES, copy_to_card

NAMES = (
    *fields.TIMES_LIMITED.values(),
    *(name for name, _ in fields.BYTES.values()),
    *fields.BYTES_OF_LINKS.values(),
    *(name for name, _ in fields.NOW.values()),
    fields.ENERGY,
    *chain(*fields.ERRORS.values(), *fields.NVLINK_ERRORS, *fields.STANDING.values()),
    *identity._MARGINS.values(),
    polled._REQUESTED,
    gpm._LINKS_TO_CPU,
)
# Value types in the driver's header: name, union member and size in bytes.
TYPES = {
    0: ("double", "dVal", 8),
    1: ("unsigned int", "uiVal", 4),
    2: ("unsigned long", "ulVal", ctypes.sizeof(ctypes.c_ulong)),
    3: ("unsigned long long", "ullVal", 8),
    4: ("signed long long", "sllVal", 8),
    5: ("signed int", "siVal", 4),
    6: ("unsigned short", "usVal", 2),
}
OF_BUS = ("PCIE_COUNT_TX_BYTES", "PCIE_COUNT_RX_BYTES")  # 197 and 198


def ask(names):
    """Return the fields that the card supports, by name and scope."""
    asked = FieldValues(pynvml, handle(), names)._requested
    found = pynvml.nvmlDeviceGetFieldValues(
        handle(), [(number, scope) for _, number, scope in asked]
    )
    return {
        (name, scope): value
        for (name, _, scope), value in zip(asked, found, strict=True)
        if value.nvmlReturn == 0
    }


def misread(name, value):
    """Return the error in reading a field; None if it is correct."""
    if value.valueType not in TYPES:
        return f"{name}: a type {value.valueType} that nobody knows"
    words, member, size = TYPES[value.valueType]
    given, read = getattr(value.value, member), number_of(pynvml, value)
    if read is None or read != float(given):
        return f"{name}: the driver says {words} ({member} = {given}), {read} is read"
    if member != "dVal":
        # The union was all 0: bytes beyond the type's size belong to another type.
        filled = value.value.ullVal
        if filled != given % 2 ** (8 * size):
            return f"{name}: the driver says {words} and fills more: {filled:#x}"
    return None


def test_each_field_is_read_from_the_member_that_the_driver_fills():
    found = ask(NAMES)

    assert found
    wrong = [misread(f"{name} ({scope})", v) for (name, scope), v in found.items()]
    assert [line for line in wrong if line is not None] == []


def test_bytes_that_are_counted_in_32_bits_are_not_taken_for_a_rate():
    types = {name: value.valueType for (name, _), value in ask(OF_BUS).items()}
    kept = FieldValues(pynvml, handle(), OF_BUS, wide=OF_BUS).read()

    narrow = {name for name, kind in types.items() if TYPES[kind][2] < 8}
    assert kept.keys() == types.keys() - narrow, types


def test_the_counter_of_received_bytes_counts_them():
    def received():
        torch.cuda.synchronize()
        # The driver updates it occasionally.
        time.sleep(0.3)
        return next(iter(ask(OF_BUS[1:]).values()), None)

    first = received()
    if first is None:
        pytest.skip("this card does not count bytes of the bus")
    copy = copy_to_card()
    copy()
    before = number_of(pynvml, received())
    for _ in range(4):
        copy()
    after = number_of(pynvml, received())

    # The counter may have restarted.
    bits = 8 * TYPES[first.valueType][2]
    grown = (after - before) % 2.0**bits
    assert 0.8 < grown / (4 * COPIED_BYTES) < 2
