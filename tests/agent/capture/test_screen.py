from __future__ import annotations

import random
import re

import pytest

from seamark.capture.screen import LONGEST_LINE, REDRAW_SECONDS, ROWS, Screen


def shown(*pieces, end=True):
    screen = Screen()
    for moment, piece in enumerate(pieces, 1):
        screen.write(piece, moment)
    return [line.text for line in screen.take(0.0, is_end=end)]


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("one\ntwo\n", ["one", "two"]),
        ("one\n\ntwo", ["one", "", "two"]),
        ("no end", ["no end"]),
        ("\x1b[31mred\x1b[0m and \x1b[1;38;5;12mblue\x1b[m\n", ["red and blue"]),
        ("10%\r20%\r30%\n", ["30%"]),
        ("long text\rshort\n", ["shorttext"]),
        ("long text\r\x1b[Kshort\n", ["short"]),
        ("abc\b\bX\n", ["aXc"]),
        ("title \x1b]0;window\x07end\n", ["title end"]),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", ["link"]),
        ("a\tb\n", ["a\tb"]),
        ("bell\x07 null\x00 end\n", ["bell null end"]),
        ("one\ntwo\x1b[A\rONE\n", ["ONE", "two"]),
        ("one\ntwo\x1b[1A\x1b[2K\rnew\x1b[B\n", ["new", "two"]),
        ("\x1b[5Cx\n", ["     x"]),
        ("abc\x1b[2DX\n", ["aXc"]),
        ("abc\x1b[1GX\n", ["Xbc"]),
        ("a\nb\nc\x1b[2A\x1b[J", ["a"]),
        ("line\r\n", ["line"]),
        ("Grüße 世界 🚀\n", ["Grüße 世界 🚀"]),
        ("half \ud83d done\n", ["half \ud83d done"]),
    ],
)
def test_lines_are_what_a_terminal_would_show(written, lines):
    assert shown(written) == lines


def test_a_sequence_may_come_in_pieces():
    text = "a\x1b[31mred\x1b[0m\x1b]0;title\x07\rb\x1b[Kc\n"

    assert shown(*text) == shown(text) == ["bc"]


def test_a_line_has_the_time_of_its_last_change():
    screen = Screen()
    screen.write("one", 5)
    screen.write(" more\n", 7)

    assert [line.time for line in screen.take(0, is_end=True)] == [7]


def test_a_finished_line_is_stored_at_the_look_after_the_next():
    screen = Screen()
    screen.write("one\ntwo", 1)

    assert screen.take(0.0) == []
    assert [line.text for line in screen.take(0.25)] == ["one"]
    assert screen.take(0.5) == []


def test_a_line_that_is_overwritten_is_stored_once_in_a_while_and_at_its_end():
    screen = Screen()
    stored = []
    for tenth in range(1_000):
        screen.write(f"\r{tenth / 10}%", tenth)
        stored += [line.text for line in screen.take(tenth / 10)]
    screen.write("\r100.0%\n", 1_000)
    stored += [line.text for line in screen.take(100.0, is_end=True)]

    assert len(stored) == 100 // REDRAW_SECONDS
    assert stored[-1] == "100.0%"


def nested_bars(outer, inner):
    """Return the output of two nested progress bars: down, draw, up."""
    for one in range(outer):
        yield f"\router {one}"
        for two in range(inner):
            yield from ("\n", f"\r  inner {one}.{two}", "\x1b[A")
    yield from (f"\router {outer}", "\n", "\r\x1b[K", "done\n")


def test_nested_bars_become_few_lines():
    screen = Screen()
    stored = []
    pieces = list(nested_bars(20, 100))
    for moment, piece in enumerate(pieces):
        screen.write(piece, moment)
        if moment % 40 == 0:
            stored += [line.text for line in screen.take(moment / 100)]
    stored += [line.text for line in screen.take(60.0, is_end=True)]

    assert len(pieces) > 6_000
    assert len(stored) < 30
    assert stored[-1] == "done"
    assert "outer 20" in stored


def test_a_long_line_is_cut_and_says_by_how_much():
    (line,) = shown("x" * (LONGEST_LINE + 1_234) + "\n")

    assert line.startswith("x" * LONGEST_LINE)
    assert line.endswith("… 1,234 more characters")


def test_lines_are_stored_once_they_leave_the_screen():
    screen = Screen()
    screen.write("".join(f"{n}\n" for n in range(ROWS + 10)), 1)

    assert [line.text for line in screen.take(0)][:3] == ["0", "1", "2"]


def test_nothing_that_is_written_is_too_odd():
    chance = random.Random(7)
    alphabet = "ab\n\r\b\t\x1b[]0123456789;?ABCDEFGJKm\x07\x9b\ud800é"
    for _ in range(300):
        screen = Screen()
        for moment in range(20):
            screen.write("".join(chance.choices(alphabet, k=30)), moment)
            screen.take(float(moment))
        for line in screen.take(100.0, is_end=True):
            assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f]", line.text)
