"""What the numbers of errors mean that NVIDIA's driver reports (XID).

Those that are common, in short; the full list, with what to do, is NVIDIA's:
https://docs.nvidia.com/deploy/xid-errors/ (as of 2026). A number that is not here is
told as it is.
"""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    PROGRAM = "program"  # mostly a fault of the code that ran on the GPU
    HARDWARE = "hardware"
    EITHER = "either"
    AFTERMATH = "aftermath"  # what is cleaned up once a process has ended


MEANINGS: dict[int, tuple[str, Origin]] = {
    13: ("a kernel accessed what it must not, or failed", Origin.PROGRAM),
    31: ("a kernel accessed memory that is not mapped", Origin.PROGRAM),
    32: ("a damaged stream of commands", Origin.EITHER),
    38: ("the driver's firmware failed", Origin.EITHER),
    43: ("a program's work was stopped", Origin.PROGRAM),
    45: ("work was cleaned up after a process had ended", Origin.AFTERMATH),
    48: ("memory that could not be corrected", Origin.HARDWARE),
    61: ("the microcontroller stopped", Origin.HARDWARE),
    62: ("the microcontroller halted", Origin.HARDWARE),
    63: ("a row of memory will be replaced", Origin.HARDWARE),
    64: ("a row of memory could not be replaced", Origin.HARDWARE),
    69: ("a kernel failed in the graphics engine", Origin.PROGRAM),
    74: ("an error of NVLink", Origin.HARDWARE),
    79: ("the card is gone from the bus", Origin.HARDWARE),
    92: ("many errors of memory that were corrected", Origin.HARDWARE),
    94: (
        "memory that could not be corrected; the program was stopped",
        Origin.HARDWARE,
    ),
    95: (
        "memory that could not be corrected; the card has to be reset",
        Origin.HARDWARE,
    ),
    109: ("work that did not give way in time", Origin.EITHER),
    119: ("the card's own processor does not answer", Origin.EITHER),
    120: ("the card's own processor failed", Origin.EITHER),
    140: ("memory that could not be corrected", Origin.HARDWARE),
    143: ("the card could not be initialised", Origin.HARDWARE),
}


def meaning_of(number: int) -> str:
    return MEANINGS.get(number, ("NVIDIA's list says what it is", Origin.EITHER))[0]


def origin_of(number: int) -> Origin:
    return MEANINGS.get(number, ("", Origin.EITHER))[1]
