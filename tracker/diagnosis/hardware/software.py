"""The minimum driver for each CUDA version, and the cards that each version supports.

Tables from NVIDIA, included to avoid network access. Last read in November 2026; a CUDA
version newer than the tables is not judged.

Drivers: "Minor Version Compatibility" of CUDA Compatibility,
https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html,
table 1 (13.x: 580, 12.x: 525, 11.x: 450), and for older ones the release notes of
CUDA 11.1, table 1. From CUDA 11 on, all minor versions of a major version run on the minimum
driver of the first one, without later features. Windows needs a slightly newer driver of the
same branch, which a comparison of branches ignores.

Cards: the compatibility guides of each architecture, such as
https://docs.nvidia.com/cuda/blackwell-compatibility-guide, and "Deprecated
Architectures" of the release notes of each major version,
https://docs.nvidia.com/cuda/archive/13.0.0/cuda-toolkit-release-notes/index.html.
Code for an older card of the same major version runs on a newer one. On a new major version,
only code runs that the driver compiles at program start.
"""

from __future__ import annotations

from dataclasses import dataclass

AS_OF = "November 2026"

# By major version from CUDA 11 on, by exact version before.
OLDEST_DRIVERS: dict[tuple[int, ...], tuple[int, ...]] = {
    (10, 0): (410, 48),
    (10, 1): (418, 39),
    (10, 2): (440, 33),
    (11,): (450,),
    (12,): (525,),
    (13,): (580,),
}

# The first CUDA version that compiles for a major compute capability.
FIRST_CUDA: dict[int, tuple[int, int]] = {
    7: (9, 0),  # Volta; Turing, 7.5, runs its code
    8: (11, 0),  # Ampere; Ada, 8.9, runs its code
    9: (11, 8),  # Hopper
    10: (12, 8),  # Blackwell for data centers
    12: (12, 8),  # Blackwell for desktops
}
# The oldest compute capability that a major version of CUDA still compiles for.
OLDEST_CARD: dict[int, tuple[int, int]] = {
    11: (3, 5),
    12: (5, 0),
    13: (7, 5),
}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """`is_fatal` is true if programs cannot be expected to run at all."""

    text: str
    cure: str
    is_fatal: bool


def version_of(text: str | None) -> tuple[int, ...]:
    """Return the leading numbers of a version; empty if it has none."""
    numbers: list[int] = []
    for part in (text or "").split("."):
        if not (part.isascii() and part.isdecimal() and len(part) <= 6):  # noqa: PLR2004
            break
        numbers.append(int(part))
    return tuple(numbers)


def oldest_driver(cuda: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return None for a CUDA version that is not in the table."""
    return OLDEST_DRIVERS.get(cuda[:2]) or OLDEST_DRIVERS.get(cuda[:1])


def compare_driver(
    driver: str, cuda: tuple[int, ...], newest_cuda: tuple[int, ...]
) -> Mismatch | None:
    """Return a mismatch between a driver and the CUDA version of a program.

    `newest_cuda` is the newest version that the driver supports, empty if unknown.
    """
    needed = oldest_driver(cuda)
    version = version_of(driver)
    if not version or needed is None:
        return None
    if version < needed:
        return Mismatch(
            f"CUDA {_dotted(cuda)} needs a driver of {_dotted(needed)} or later, and"
            f" this one is {driver}.",
            f"Update the driver to {_dotted(needed)} or later, or install a build for"
            " an older CUDA.",
            is_fatal=True,
        )
    if newest_cuda and cuda[:2] > newest_cuda[:2]:
        return Mismatch(
            f"The driver was made for CUDA {_dotted(newest_cuda[:2])} and the"
            f" framework for {_dotted(cuda[:2])}: it runs, without newer features and"
            " without code that is compiled for the card at program start.",
            f"Update the driver to one that supports CUDA {_dotted(cuda[:2])}.",
            is_fatal=False,
        )
    return None


def compare_card(capability: tuple[int, ...], cuda: tuple[int, ...]) -> Mismatch | None:
    """Return a mismatch between a card and the CUDA version of a program."""
    if len(capability) < 2 or not cuda:  # noqa: PLR2004 - major and minor
        return None
    name = f"compute capability {_dotted(capability)}"
    first = FIRST_CUDA.get(capability[0])
    if first is not None and cuda[:2] < first:
        return Mismatch(
            f"CUDA {_dotted(cuda)} does not support cards of {name}: code is compiled"
            " at program start, if it runs at all.",
            f"Install a build for CUDA {_dotted(first)} or later.",
            is_fatal=False,
        )
    oldest = OLDEST_CARD.get(cuda[0])
    if oldest is not None and capability < oldest:
        return Mismatch(
            f"CUDA {cuda[0]} no longer compiles for cards of {name}.",
            f"Install a build for CUDA {cuda[0] - 1}.",
            is_fatal=True,
        )
    return None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
