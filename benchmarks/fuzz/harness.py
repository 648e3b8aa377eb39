"""One decoder under atheris, in its own process: `... harness <decoder> <options>`.

The options are libFuzzer's. An exception other than the decoder's refusals ends the
process, also MemoryError: it has little more memory than it needs.
"""

from __future__ import annotations

import random
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import atheris
from django.conf import settings

# Some decoders belong to the API, whose modules need settings.
settings.configure()
with atheris.instrument_imports(include=["agent", "tracker"]):
    from tests.slow.fuzz.decoders import DECODERS, MAX_BYTES, Decoder
    from tests.slow.fuzz.wrappings import Wrapping

# Memory for the interpreter, atheris and its corpus, in addition to the decoder's cap.
SPARE_BYTES = 512 * 2**20
# How often a part is left out or repeated, instead of changed within.
REARRANGED = 0.2


def main(name: str, options: list[str]) -> None:
    decoder = DECODERS[name]
    atheris.Setup(
        [name, *options], once(decoder), custom_mutator=mutator(decoder.wrapping)
    )
    limit_memory(SPARE_BYTES + decoder.cap_bytes)
    atheris.Fuzz()


def once(decoder: Decoder) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        with suppress(*decoder.refusals):
            decoder.read(data[:MAX_BYTES])

    return read


def mutator(wrapping: Wrapping) -> Callable[[bytes, int, int], bytes]:
    """Change the bytes inside the checksums, and update the checksums."""

    def mutate(data: bytes, most_bytes: int, seed: int) -> bytes:
        chance = random.Random(seed)
        parts = wrapping.parts(data) or [b""]
        # As likely as it is long, so that heads do not get half of the attention.
        (place,) = chance.choices(range(len(parts)), [len(part) + 1 for part in parts])
        if chance.random() < REARRANGED:
            other = parts[chance.randrange(len(parts))]
            parts[place : place + chance.randrange(2)] = [other]
        else:
            parts[place] = atheris.Mutate(parts[place], most_bytes)
        return wrapping.whole(parts)[:most_bytes]

    return mutate


def limit_memory(more_bytes: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more_bytes, used + more_bytes))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
