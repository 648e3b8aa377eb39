"""Numbers, names and counts at and beyond their limits, over HTTP on both databases.

For more random examples:

    TEST_EXAMPLES=1000 .venv/bin/python -m pytest tests/tracker/api/v1/test_bad_input.py
"""

from __future__ import annotations

import math
import os
import random
import struct
from collections import Counter
from uuid import uuid4

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import (
    START,
    frame,
    frames,
    open_message,
    points_message,
    set_message,
)
from tracker.ingest import attributes, pipeline
from tracker.ingest.limits import LIMITS, Limits
from tracker.ingest.messages import LATEST_TIME
from tracker.models import Run
from tracker.models.attribute import SHORT_CHARACTERS
from tracker.queries.series.series import read_points

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CONTENT_TYPE = "application/vnd.seamark.frames"
# Placeholder for a lone surrogate, which Python's encoders reject. No length prefix of a text
# forms this mark together with the text's beginning.
MARK, SURROGATE = "\ue000".encode(), b"\xed\xa0\x80"
OPENING = [open_message("baseline")]
EXAMPLES = int(os.environ.get("TEST_EXAMPLES", "5"))
# Counts of requests.
TRIED = Counter[str]()
looking = settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def float_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def bits_of(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]


FINITE = {
    "-0.0": -0.0,
    "least subnormal": 5e-324,
    "largest subnormal": float_of(0x000F_FFFF_FFFF_FFFF),
    "least normal": float_of(0x0010_0000_0000_0000),
    "largest": float_of(0x7FEF_FFFF_FFFF_FFFF),
    "2^53 - 1": 2.0**53 - 1,
    "2^53 + 2": 2.0**53 + 2,
    "2^63": 2.0**63,
    "least float32": float_of(0x36A0_0000_0000_0000),
    "largest float32": float_of(0x47EF_FFFF_E000_0000),
    "one bit beyond float32": float_of(0x47EF_FFFF_E000_0001),
    "a third": 1 / 3,
}
NOT_FINITE = {
    "NaN": float_of(0x7FF8_0000_0000_0000),
    "NaN with a payload": float_of(0x7FF8_DEAD_BEEF_0001),
    "negative NaN": float_of(0xFFF8_0000_0000_0000),
    "Infinity": math.inf,
    "-Infinity": -math.inf,
}
NUMBERS = FINITE | NOT_FINITE


@pytest.fixture
def send(writer):
    """Return a function that sends payloads as the records of one queue."""
    spool = uuid4()

    def send(*payloads, first=1):
        return writer.post(
            f"/api/v1/ingest/{spool}",
            frames(payloads, first=first),
            content_type=CONTENT_TYPE,
        )

    return send


@pytest.fixture
def values(reader):
    """Return a function that reads the run's attributes by path."""

    def values():
        found = reader.get(f"/api/v1/runs/{Run.objects.get().id}/attributes").json()
        return {row["path"]: row["value"] for row in found["attributes"]}

    return values


@pytest.fixture
def logged(writer):
    """Return a function that sends a payload to a new run, and returns run and response."""

    def logged(payload):
        name = str(uuid4())
        body = frames([[open_message(name)]]) + frame(payload, 2)
        answer = writer.post(
            f"/api/v1/ingest/{uuid4()}", body, content_type=CONTENT_TYPE
        )
        assert answer.status_code == 200, answer.content
        return Run.objects.get(name=name), answer.json()["refused"]

    return logged


def values_of(reader, run):
    found = reader.get(f"/api/v1/runs/{run.id}/attributes").json()
    return {row["path"]: row["value"] for row in found["attributes"]}


BITS = (
    st.integers(0, 2**64 - 1)
    | st.floats().map(bits_of)
    | st.floats(width=32).map(bits_of)
    | st.sampled_from([bits_of(number) for number in NUMBERS.values()])
)


@looking
@given(bits=st.lists(BITS, min_size=20, max_size=60))
def test_any_bits_of_a_number_come_back(logged, reader, bits):
    TRIED["numbers"] += len(bits)
    columns = np.array(bits, "<u8").view("<f8")
    numbers = columns.tolist()
    messages = [set_message(f"n/{n}", number) for n, number in enumerate(numbers)]
    payload = msgspec.msgpack.encode([points_message("x", columns), *messages])

    run, refused = logged(payload)

    assert not refused
    assert read_points(run, "x").values.view("<u8").tolist() == bits
    answered = values_of(reader, run)
    for place, number in enumerate(numbers):
        value = answered[f"n/{place}"]
        if math.isfinite(number):
            # The sign of zero is lost, because SQLite does not store it.
            assert bits_of(value) == bits_of(number + 0.0)
        else:
            names = {math.inf: "Infinity", -math.inf: "-Infinity"}
            assert value == names.get(number, "NaN")


def test_every_bit_of_a_point_is_stored_and_every_finite_one_answered(send, reader):
    columns = np.array(list(NUMBERS.values()))

    assert send(OPENING, [points_message("x", columns)]).json()["refused_count"] == 0

    run = Run.objects.get()
    stored = read_points(run, "x")
    assert stored.values.view("<u8").tolist() == columns.view("<u8").tolist()
    (line,) = reader.get(f"/api/v1/runs/{run.id}/series?path=x").json()["series"]
    assert line["exact"]
    for answered, number in zip(line["mean"], columns.tolist(), strict=True):
        assert math.isnan(number) or float(answered) == number
        if math.isfinite(number):
            assert bits_of(answered) == bits_of(number)


def test_a_number_beyond_those_of_64_bits_is_named(send, reader):
    send(OPENING, [points_message("x", list(NOT_FINITE.values()))])

    run = Run.objects.get()
    (line,) = reader.get(f"/api/v1/runs/{run.id}/series?path=x").json()["series"]

    assert line["mean"] == ["NaN", "NaN", "NaN", "Infinity", "-Infinity"]


def test_a_set_number_is_answered_as_it_was(send, values):
    messages = [set_message(f"n/{name}", number) for name, number in NUMBERS.items()]

    assert send(OPENING, messages).json()["refused_count"] == 0

    answered = values()
    for name, number in FINITE.items():
        # The sign of zero is lost, because SQLite does not store it.
        assert bits_of(answered[f"n/{name}"]) == bits_of(number + 0.0), name
    for name, number in NOT_FINITE.items():
        assert answered[f"n/{name}"] == ("NaN" if math.isnan(number) else name)


@pytest.mark.parametrize(
    "number", [2**53 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)]
)
def test_an_integer_is_answered_digit_by_digit(send, values, number):
    send(OPENING, [set_message("n", number)])

    assert int(values()["n"]) == number


NAMES = {
    "right to left": "\u202egnp.exe\u2066",
    "zero width": "lo\u200bss\u200d\ufeff",
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
    "blank": "\u00a0\u3000\u2028",
    "outside the first plane": "🧭" * 50,
    "noncharacter": "\ufdd0\uffff\U0010ffff",
    "control characters": "\x01\x1b[31m\x7f\x85",
}


def test_names_that_look_alike_are_kept_apart_as_they_came(send, reader, values):
    messages = [set_message(f"names/{name}", name) for name in NAMES.values()]
    tags = sorted(NAMES.values())

    answer = send(OPENING, [*messages, {"t": "tags", "add": tags, "remove": []}])

    assert answer.json()["refused_count"] == 0
    answered = values()
    assert answered.pop("tags") == tags
    assert answered == {f"names/{name}": name for name in NAMES.values()}


@pytest.mark.parametrize("field", ["run", "project", "stage", "host"])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_opens_what_has_exactly_this_name(writer, reader, field, name):
    opening = open_message("r", project="p", **{field: name} if field == "host" else {})
    opening |= {field: name}

    for _ in range(2):
        answer = writer.post(
            f"/api/v1/ingest/{uuid4()}", frames([[opening]]), content_type=CONTENT_TYPE
        )
        assert answer.status_code == 200

    (project,) = reader.get("/api/v1/projects").json()["projects"]
    runs = f"/api/v1/projects/{project['workspace']}/{project['slug']}/runs"
    (run,) = reader.get(runs).json()["runs"]
    (stage,) = reader.get(f"/api/v1/runs/{run['id']}").json()["stages"]
    found = {
        "run": run["name"],
        "project": project["name"],
        "stage": stage["name"],
        "host": stage["processes"][0]["host"],
    }
    assert found[field] == name


def test_twins_in_other_normal_forms_are_two_projects(writer, reader):
    for name in (NAMES["composed"], NAMES["decomposed"]):
        opening = open_message("r", project=name)
        writer.post(
            f"/api/v1/ingest/{uuid4()}", frames([[opening]]), content_type=CONTENT_TYPE
        )

    projects = reader.get("/api/v1/projects").json()["projects"]

    assert len({project["slug"] for project in projects}) == 2
    assert all(project["run_count"] == 1 for project in projects)


@pytest.mark.parametrize("text", [b"a\0b", MARK], ids=["NUL", "lone surrogate"])
def test_messages_with_invalid_characters_are_refused_one_by_one(writer, text):
    messages = [
        points_message(text.decode(), [1.0]),
        set_message(text.decode(), 1),
        set_message("note", text.decode()),
        set_message("notes", ["good", text.decode()]),
        {"t": "tags", "add": [text.decode()], "remove": []},
        set_message("good", 1),
    ]
    payload = msgspec.msgpack.encode(messages).replace(MARK, SURROGATE)
    body = frames([OPENING]) + frame(payload, 2)

    answer = writer.post(
        f"/api/v1/ingest/{uuid4()}", body, content_type=CONTENT_TYPE
    ).json()

    assert answer["stored"] == 2
    assert [refused["index"] for refused in answer["refused"]] == [0, 1, 2, 3, 4]
    codes = {refused["code"] for refused in answer["refused"]}
    assert codes <= {"invalid_message", "invalid_path"}


TEXTS = st.lists(
    st.text(max_size=20)
    | st.sampled_from(["\0", MARK.decode(), "/", "\u202e", "\ufeff", "e\u0301", "😀"]),
    max_size=8,
).map("".join)


@looking
@given(text=TEXTS)
def test_any_text_is_stored_as_it_came_or_refused(logged, reader, text):
    TRIED["texts"] += 1
    # Slashes at the ends of a path are removed; this path has none.
    path = f"names{text}."
    messages = [
        set_message("note", text),
        set_message(path, 1.0),
        {"t": "tags", "add": [path], "remove": []},
    ]
    payload = msgspec.msgpack.encode(messages).replace(MARK, SURROGATE)

    run, refused = logged(payload)

    if "\0" in text or MARK.decode() in text:
        assert [one["index"] for one in refused] == [0, 1, 2]
        assert {one["code"] for one in refused} <= {"invalid_message", "invalid_path"}
        assert values_of(reader, run) == {}
    else:
        assert not refused
        assert values_of(reader, run) == {"note": text, path: 1.0, "tags": [path]}


@pytest.mark.parametrize("letter", ["x", "é", "🧭"])
def test_the_longest_texts_come_back_and_longer_ones_are_refused(send, values, letter):
    longest = letter * LIMITS.string_characters
    letter_bytes = len(letter.encode())
    path = letter * min(LIMITS.path_characters, LIMITS.path_bytes // letter_bytes)

    answer = send(
        OPENING,
        [
            set_message(path, longest),
            set_message("longer", longest + letter),
            set_message(path + letter, 1),
            points_message(letter * 65_536, [1.0]),
        ],
    ).json()

    codes = [(refused["index"], refused["code"]) for refused in answer["refused"]]
    assert codes == [(1, "value_too_large"), (2, "invalid_path"), (3, "invalid_path")]
    assert values() == {path: longest}


def test_the_largest_path_of_any_kind_of_value_can_be_stored(send, values):
    draw = random.Random(0)

    def text_of(characters):
        """Return a text that PostgreSQL cannot compress: four bytes per character."""
        return "".join(chr(draw.randint(0x20000, 0x2A6D0)) for _ in range(characters))

    short = SHORT_CHARACTERS * 4
    contents = [1.5, text_of(SHORT_CHARACTERS), text_of(10_000), [text_of(short)], True]
    written = {text_of(LIMITS.path_bytes // 4): value for value in contents}
    series = text_of(LIMITS.path_bytes // 4)
    messages = [set_message(path, value) for path, value in written.items()]

    answer = send(OPENING, [*messages, points_message(series, [1.0])]).json()

    assert answer["refused_count"] == 0
    assert values() == {**written, series: None}
    assert read_points(Run.objects.get(), series).values.tolist() == [1.0]


@pytest.mark.parametrize(
    "query",
    [
        "path=x&low=1e999",
        "path=x&low=nan",
        "path=x&high=-inf",
        f"path=x&buckets={'9' * 5_000}",
        f"path=x&low={'9' * 5_000}",
        "path=",
        "path=%00",
        f"path={'x' * 1_025}",
        "&".join(["path=x"] * 51),
        "path=x&axis=epoch",
        "path=x&format=xml",
    ],
    ids=lambda query: query[:20],
)
def test_a_question_that_makes_no_sense_is_refused(reader, run, query):
    response = reader.get(f"/api/v1/runs/{run.id}/series?{query}")

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("steps", "times", "kept"),
    [
        pytest.param([-1.0, 0.0], None, 2, id="step -1"),
        pytest.param([-(2.0**53), 2.0**53], None, 2, id="steps at the end"),
        pytest.param([0.0, 2.0**63], None, 1, id="step 2^63"),
        pytest.param([0.0, math.nan], None, 1, id="step NaN"),
        pytest.param([0.0, -math.inf], None, 1, id="step -inf"),
        pytest.param(None, [0, LATEST_TIME], 2, id="years 1970 and 9999"),
        pytest.param(None, [START, LATEST_TIME + 86_400_000_000], 1, id="year 10000"),
        pytest.param(None, [START, -62_198_755_200_000_000], 1, id="year -1"),
        pytest.param(None, [START, -(2**63)], 1, id="the earliest"),
    ],
)
def test_steps_and_times_that_have_no_place_are_refused(
    send, reader, steps, times, kept
):
    message = points_message("x", [1.0, 2.0], steps=steps, times=times)

    answer = send(OPENING, [message]).json()

    codes = [refused["code"] for refused in answer["refused"]]
    assert codes == ["invalid_points"] * (2 - kept)
    query = f"/api/v1/runs/{Run.objects.get().id}/series?path=x"
    for axis in ("step", "time", "relative"):
        (line,) = reader.get(f"{query}&axis={axis}").json()["series"]
        assert line["count"] == kept


@pytest.fixture
def few_attributes(monkeypatch):
    """Lower the limit, so that a test can exceed it."""
    limits = Limits(attributes=50, set_strings=50)
    for module in (pipeline, attributes):
        monkeypatch.setattr(module, "LIMITS", limits, raising=False)
    return limits


def test_names_without_end_are_refused_and_the_run_still_opens(
    send, reader, few_attributes, client_of, member
):
    send(OPENING)
    codes = set()
    for batch in range(4):
        names = [f"m/{batch}/{number}" for number in range(30)]
        answer = send([points_message(name, [1.0]) for name in names], first=batch + 2)
        codes |= {refused["code"] for refused in answer.json()["refused"]}

    assert codes == {"too_many_attributes"}
    run = Run.objects.get()
    rows = reader.get(f"/api/v1/runs/{run.id}/attributes").json()["attributes"]
    assert len(rows) == few_attributes.attributes
    for page in ("", "charts", "attributes"):
        assert client_of(member).get(f"/runs/{run.id}/{page}").status_code == 200
    # Existing series still grow.
    more = send([points_message("m/0/0", [2.0], steps=[1.0])], first=6).json()
    assert (more["stored"], more["refused"]) == (6, [])


def test_tags_without_end_are_refused(send, values, few_attributes):
    send(OPENING)
    codes = []
    for batch in range(3):
        tags = [f"{batch}-{number}" for number in range(30)]
        answer = send([{"t": "tags", "add": tags, "remove": []}], first=batch + 2)
        codes += [refused["code"] for refused in answer.json()["refused"]]

    assert codes == ["value_too_large"] * 2
    assert len(values()["tags"]) == 30


BAD = [
    (points_message("loss", [0.0], steps=[math.nan]), "invalid_points"),
    (set_message("/", 1), "invalid_path"),
    (set_message("long", "x" * (LIMITS.string_characters + 1)), "value_too_large"),
]


@looking
@given(place=st.integers(0, 999), bad=st.sampled_from(BAD))
def test_one_bad_record_in_a_thousand_is_reported_and_the_others_stored_once(
    writer, reader, place, bad
):
    TRIED["batches"] += 1
    name, spool = str(uuid4()), uuid4()
    messages = [points_message("loss", [float(n)], steps=[n]) for n in range(500)] + [
        set_message(f"params/{n}", n) for n in range(500)
    ]
    messages[place], code = bad
    body = frames([[open_message(name)], messages])

    first, again = (
        writer.post(f"/api/v1/ingest/{spool}", body, content_type=CONTENT_TYPE).json()
        for _ in range(2)
    )

    assert first["stored"] == again["stored"] == 2
    (refused,) = first["refused"]
    assert (refused["frame"], refused["index"]) == (2, place)
    assert refused["code"] == code
    run = Run.objects.get(name=name)
    stored = {f"params/{n}": n for n in range(500) if n + 500 != place}
    assert values_of(reader, run) == {**stored, "loss": None}
    (line,) = reader.get(f"/api/v1/runs/{run.id}/series?path=loss&buckets=1000").json()[
        "series"
    ]
    assert line["x"] == [float(n) for n in range(500) if n != place]
