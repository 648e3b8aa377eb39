"""Changes bytes as a fuzzer would, behind their checksums (Hypothesis strategies)."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.slow.fuzz.decoders import MAX_BYTES, Decoder

# Boundary values of lengths, counts and kinds.
EDGES = [
    number.to_bytes(width, order)
    for width in (1, 2, 4, 8)
    for order in ("little", "big")
    for number in (0, 1, 2 ** (8 * width - 1), 2 ** (8 * width) - 1)
]
# MessagePack: nested arrays, false lengths, extensions, unused types.
MARKS = [b"\x91" * 2_000, b"\xdd\xff\xff\xff\xff", b"\xc7\xff\xff", b"\xc1", b"\xc0"]
pieces = st.sampled_from(EDGES) | st.sampled_from(MARKS) | st.binary(max_size=16)


@st.composite
def changed_bytes(draw: st.DrawFn, decoder: Decoder) -> bytes:
    """Return valid bytes, changed in a few positions."""
    parts = decoder.wrapping.parts(draw(st.sampled_from(decoder.seeds)))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(parts) - 1))
        parts[place] = _changed(draw, parts[place])
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from(parts)))
    return decoder.wrapping.whole(parts)[:MAX_BYTES]


def _changed(draw: st.DrawFn, part: bytes) -> bytes:
    start = draw(st.integers(0, len(part)))
    end = min(len(part), start + draw(st.sampled_from([0, 1, 2, 4, 8, 2**16])))
    match draw(st.sampled_from(["overwrite", "insert", "delete", "repeat"])):
        case "overwrite":
            piece = draw(pieces)
            return part[:start] + piece + part[start + len(piece) :]
        case "insert":
            return part[:start] + draw(pieces) + part[start:]
        case "delete":
            return part[:start] + part[end:]
        case _:
            return part[:end] + part[start:end] * draw(st.integers(1, 50)) + part[end:]
