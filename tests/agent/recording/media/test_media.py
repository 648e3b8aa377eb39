"""Media of series: lists, captions, boxes, masks and HTML."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from PIL import Image

import agent
from tests.agent.conftest import wait_until

HEAD = 32 + 8  # digest and size


def gray(level):
    return np.full((2, 3), level, np.uint8)


def records(tracker, path):
    """Return kind, step, media type and details of each record, in order."""
    found = []
    for message in tracker.of_kind("records"):
        if message["path"] != path:
            continue
        steps = np.frombuffer(message["steps"], "<f8").tolist()
        position = 0
        for step, size in zip(
            steps, np.frombuffer(message["sizes"], "<u4"), strict=True
        ):
            value = message["values"][position : position + int(size)]
            position += int(size)
            media_type, _, details = value[HEAD:].partition(b"\0")
            known = json.loads(details) if details else {}
            found.append((message["kind"], step, media_type.decode(), known))
    return found


def log(tracker, *calls, count):
    """Append to the series `x`, each call with its arguments, and return the records."""
    with agent.init("r", monitor=False) as run:
        for value, options in calls:
            run["x"].append(value, **options)
        wait_until(lambda: len(records(tracker, "x")) == count)
    return records(tracker, "x")


def test_a_list_is_several_pictures_of_one_step(tracker):
    values = [gray(10), Image.new("L", (3, 2), 20), agent.Image(gray(30))]

    found = log(tracker, (values, {"step": 7}), (values, {}), count=6)

    assert [each[:3] for each in found[:3]] == [("image", 7.0, "image/png")] * 3
    assert [each[1] for each in found[3:]] == [8.0] * 3


def test_captions_belong_to_the_pictures_in_order(tracker):
    captions = ["a cat", "ein Bär"]

    found = log(
        tracker,
        ([gray(1), gray(2)], {"step": 0, "captions": captions}),
        (agent.Image(gray(3), caption="alone"), {}),
        count=3,
    )

    assert [each[3]["caption"] for each in found] == [*captions, "alone"]


def test_lists_are_logged_by_log(tracker):
    with agent.init("r", monitor=False) as run:
        run.log({"loss": 1.0, "x": [gray(1), gray(2)]}, step=4)
        wait_until(lambda: len(records(tracker, "x")) == 2)

    assert [each[1] for each in records(tracker, "x")] == [4.0, 4.0]
    assert tracker.values("loss") == [1.0]


def test_a_long_list_is_cut_with_one_warning(tracker, caplog):
    many = [gray(level) for level in range(103)]

    found = log(tracker, (many, {"step": 0}), (many, {"step": 1}), count=200)

    assert len(found) == 200
    assert caplog.text.count("only the first 100 of a step are stored") == 1


def test_boxes_and_a_mask_go_with_their_picture(tracker):
    mask = np.array([[0, 1, 2], [0, 0, 10]])
    boxes = [(0, 0, 1.5, 2, "cat"), np.array([1, 1, 2, 2])]

    found = log(
        tracker, (agent.Image(gray(9), boxes=boxes, mask=mask), {"step": 1}), count=2
    )

    expected = [[0.0, 0.0, 1.5, 2.0, "cat"], [1.0, 1.0, 2.0, 2.0]]
    assert [each[3] for each in found] == [{"boxes": expected}, {"is_mask": True}]
    drawn = next(
        pixels
        for content in tracker.stored.values()
        if (pixels := np.asarray(Image.open(io.BytesIO(content)))).shape == (2, 3, 4)
    )
    assert drawn[..., 3].tolist() == [[0, 255, 255], [0, 0, 255]]
    # The tenth class has the color of the first.
    assert drawn[0, 1].tolist() == drawn[1, 2].tolist() != drawn[0, 2].tolist()


REFUSED = {
    "captions of another number": (
        [gray(1)],
        {"captions": ["a", "b"]},
        "is not a list of 1 captions",
    ),
    "captions of a number": (1.0, {"captions": ["a"]}, "neither an image nor"),
    "a list with a number": ([gray(1), 2.0], {}, "a list"),
    "a list of numbers": ([1.0, 2.0], {}, "a list"),
    "a box of three": (agent.Image(gray(1), boxes=[(1, 2, 3)]), {}, "has a box"),
    "a box of words": (agent.Image(gray(1), boxes=["abcd"]), {}, "details"),
    "too many boxes": (
        agent.Image(gray(1), boxes=[(0, 0, 1, 1)] * 201),
        {},
        "more than 200 boxes",
    ),
    "a mask of floats": (
        agent.Image(gray(1), mask=np.ones((2, 3))),
        {},
        "is not a mask",
    ),
    "a mask of text": (agent.Image(gray(1), mask="abc"), {}, "is not a mask"),
}


@pytest.mark.parametrize(("value", "options", "why"), REFUSED.values(), ids=REFUSED)
def test_invalid_media_are_refused_and_training_goes_on(
    tracker, caplog, value, options, why
):
    with agent.init("r", monitor=False) as run:
        run["x"].append(value, step=0, **options)
        run["loss"].append(1.0)

    assert why.lower() in caplog.text.lower()
    assert records(tracker, "x") == []
    assert tracker.values("loss") == [1.0]


def test_html_is_a_series_of_files(tracker, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<b>from a file</b>")

    found = log(
        tracker,
        (agent.Html("<b>text</b>", caption="bold"), {"step": 0}),
        (agent.Html(page), {}),
        count=2,
    )

    assert [each[:3] for each in found] == [
        ("file", 0.0, "text/html"),
        ("file", 1.0, "text/html"),
    ]
    assert sorted(tracker.stored.values()) == [b"<b>from a file</b>", b"<b>text</b>"]


def test_a_series_of_pictures_takes_no_html(tracker, caplog):
    with agent.init("r", monitor=False) as run:
        run["x"].append(agent.Image(gray(1)))
        run["x"].append(agent.Html("<b>"))
        wait_until(lambda: records(tracker, "x"))

    assert "already contains a series of images" in caplog.text
    assert [each[0] for each in records(tracker, "x")] == ["image"]
