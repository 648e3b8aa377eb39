"""Extraction of the exception from a failure's text."""

import traceback

import pytest

from web.pages.run.failure_text import (
    MAX_CHARACTERS,
    error_line,
    frames_of,
    raised,
    raised_at,
)

RAISED = (SyntaxError, RuntimeError, ValueError, OSError)


def formatted(act):
    with pytest.raises(RAISED) as caught:
        act()
    return "".join(traceback.format_exception(caught.value)).rstrip()


def of_deep():
    def deeper(n):
        return deeper(n - 1)

    deeper(0)


def of_another():
    try:
        {}["loss"]
    except KeyError as error:
        raise ValueError("no loss") from error


def of_worker():
    raise RuntimeError(
        "Caught ValueError in DataLoader worker process 0.\n"
        "Original Traceback (most recent call last):\n"
        '  File "loop.py", line 51, in fetch\n'
        "    return self.dataset[index]\n"
        "ValueError: not an image: 17.jpg"
    )


def of_many_lines():
    raise OSError("one\n\n  two\nthree\nfour")


def of_length():
    raise OSError("x" * 2000)


# As Python 3.11 and later print it.
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in <module>
  |     raise ExceptionGroup("two", [OSError("a"), OSError("b")])
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | OSError: a
    +---------------- 2 ----------------
    | OSError: b
    +------------------------------------"""


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda: eval("1 +"), "SyntaxError: invalid syntax"),
        (of_deep, "RecursionError: maximum recursion depth exceeded"),
        (of_another, "ValueError: no loss"),
        (of_worker, "ValueError: not an image: 17.jpg"),
        (of_many_lines, "OSError: one\n  two\nthree …"),
        (of_length, f"{'OSError: ' + 'x' * 2000:.{MAX_CHARACTERS}} …"),
    ],
)
def test_what_was_raised_is_told_apart_from_where(act, expected):
    assert raised(formatted(act)) == expected


@pytest.mark.parametrize(
    "failure",
    ["", "it said no", "exit code 3", '  File "a.py", line 3\n    x = 1\n', GROUP],
)
def test_what_has_no_stack_has_no_such_line(failure):
    assert raised(failure) == ""


def test_the_line_that_raised_is_named():
    failure = (
        "Traceback (most recent call last):\n"
        '  File "train.py", line 40, in <module>\n'
        "    train()\n"
        '  File "train.py", line 12, in train\n'
        "    loss.backward()\n"
        "    ^^^^^^^^^^^^^^^\n"
        "RuntimeError: no gradient\n"
    )

    assert raised_at(failure) == "train.py, line 12: loss.backward()"
    assert raised_at("killed by signal 9") == ""


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (formatted(of_another), "ValueError: no loss"),
        (formatted(of_many_lines), "OSError: one"),
        ("KeyError: 'loss'", "KeyError: 'loss'"),
        ("killed by signal 9\n", "killed by signal 9"),
        ("one\n  two", "two"),
        ("", ""),
        ("x" * 2000, "x" * MAX_CHARACTERS),
    ],
)
def test_an_error_line_is_short(failure, line):
    assert error_line(failure) == line


def test_frames_end_before_an_exception_that_is_shown_in_full():
    failure = formatted(of_another)

    frames = frames_of(failure)

    assert failure == f"{frames}\nValueError: no loss"
    assert "KeyError: 'loss'" in frames


@pytest.mark.parametrize(
    "failure", [formatted(of_many_lines), formatted(of_length), "KeyError: 'loss'", ""]
)
def test_frames_keep_an_exception_that_is_not_shown_in_full(failure):
    assert frames_of(failure) == failure
