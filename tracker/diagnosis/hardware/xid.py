"""Meanings of the XID error numbers that NVIDIA's driver reports.

Only common errors; the full list with instructions is at
https://docs.nvidia.com/deploy/xid-errors/ (as of 2026). Unknown numbers are reported without
a meaning.
"""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    PROGRAM = "program"  # usually a fault of the code on the GPU
    HARDWARE = "hardware"
    EITHER = "either"
    AFTERMATH = "aftermath"  # cleanup after a process has ended


MEANINGS: dict[int, tuple[str, Origin]] = {
    13: ("a kernel made an invalid access, or failed", Origin.PROGRAM),
    31: ("a kernel accessed memory that is not mapped", Origin.PROGRAM),
    32: ("a corrupted command stream", Origin.EITHER),
    38: ("the driver's firmware failed", Origin.EITHER),
    43: ("a program's work was stopped", Origin.PROGRAM),
    45: ("work was cleaned up after a process had ended", Origin.AFTERMATH),
    48: ("an uncorrectable memory error", Origin.HARDWARE),
    61: ("the microcontroller stopped", Origin.HARDWARE),
    62: ("the microcontroller halted", Origin.HARDWARE),
    63: ("a memory row will be remapped", Origin.HARDWARE),
    64: ("a memory row could not be remapped", Origin.HARDWARE),
    69: ("a kernel failed in the graphics engine", Origin.PROGRAM),
    74: ("an NVLink error", Origin.HARDWARE),
    79: ("the card has fallen off the bus", Origin.HARDWARE),
    92: ("many corrected memory errors", Origin.HARDWARE),
    94: (
        "an uncorrectable memory error; the program was stopped",
        Origin.HARDWARE,
    ),
    95: (
        "an uncorrectable memory error; the card has to be reset",
        Origin.HARDWARE,
    ),
    109: ("a context switch timed out", Origin.EITHER),
    119: ("the GPU system processor does not respond", Origin.EITHER),
    120: ("the GPU system processor failed", Origin.EITHER),
    140: ("an uncorrectable memory error", Origin.HARDWARE),
    143: ("the card could not be initialized", Origin.HARDWARE),
}


def meaning_of(number: int) -> str:
    return MEANINGS.get(number, ("see NVIDIA's list of XID errors", Origin.EITHER))[0]


def origin_of(number: int) -> Origin:
    return MEANINGS.get(number, ("", Origin.EITHER))[1]
