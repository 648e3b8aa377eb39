"""The server reads the golden frames of every version of the protocol."""

import json
import struct
from uuid import uuid4

import pytest

from seamark import messages
from seamark.queue.frames import Frame
from tests.builders import actor_of
from tests.contract.build import DESCRIPTION, FIRST_VERSION, FRAMES, SECOND_VERSION
from tracker.ingest.batch import read_batch
from tracker.ingest.messages import Close, Drop, Open
from tracker.ingest.write import store_batch
from tracker.models import Attribute, Kind, Run, Spool, State
from tracker.queries.series.series import read_points


def described(path):
    frames = json.loads(DESCRIPTION.read_text("utf-8"))["frames"]
    [message] = [
        m
        for f in frames
        for m in f["messages"]
        if path in (m.get("path"), *m.get("paths", ()))
    ]
    return message


def bits(digits):
    return [int(text, 16) for text in digits]


def test_reads_every_message():
    batch = read_batch(FRAMES.read_bytes())

    kinds = [type(message.content).__name__ for message in batch.messages]
    assert (batch.first, batch.last) == (1, 6)
    assert kinds == [
        "Open",
        *["AddPoints"] * 2,
        *["SetValue"] * 8,
        "ChangeTags",
        *["AddRecords"] * 2,
        "Drop",
        "Close",
    ]
    assert isinstance(batch.messages[0].content, Open)
    assert batch.messages[-2].content == Drop(17)
    assert batch.messages[-1].content == Close(
        "failed", 1767225603000000, "ValueError: loss is NaN"
    )


def test_refuses_nothing_but_the_step_no_series_can_hold():
    batch = read_batch(FRAMES.read_bytes())

    [refusal] = batch.refusals
    assert (refusal.frame, refusal.index, refusal.code) == (2, 1, "invalid_points")
    assert refusal.message.startswith("1 of 2 points")


@pytest.mark.django_db
@pytest.mark.database
class TestStored:
    @pytest.fixture
    def run(self, member):
        receipt = store_batch(actor_of(member), uuid4(), FRAMES.read_bytes())
        assert receipt.stored == 6
        return Run.objects.get()

    def test_every_bit_of_every_column_survives(self, run):
        expected = described("train/loss")

        for path, column in zip(expected["paths"], expected["columns"], strict=True):
            points = read_points(run, path)
            assert points.steps.view("<u8").tolist() == bits(expected["steps"])
            assert points.times.tolist() == expected["times"]
            assert points.values.view("<u8").tolist() == bits(column)

    def test_frames_of_the_first_version_are_read_for_ever(self, member):
        receipt = store_batch(actor_of(member), uuid4(), FIRST_VERSION.read_bytes())

        assert (receipt.stored, receipt.refused_count) == (6, 1)
        expected = described("train/loss")
        points = read_points(Run.objects.get(), "train/loss")
        assert points.steps.view("<u8").tolist() == bits(expected["steps"])
        assert points.values.view("<u8").tolist() == bits(expected["columns"][0])

    def test_frames_of_the_second_version_are_read_for_ever(self, member):
        receipt = store_batch(actor_of(member), uuid4(), SECOND_VERSION.read_bytes())

        assert (receipt.stored, receipt.refused_count) == (6, 1)
        expected = described("train/loss")
        points = read_points(Run.objects.get(), "train/loss")
        assert points.values.view("<u8").tolist() == bits(expected["columns"][0])

    def test_every_value_is_stored_with_its_type(self, run):
        stored = {
            each.path: each
            for each in Attribute.objects.exclude(kind=Kind.FLOAT_SERIES)
        }

        assert (
            stored["params/lr"].number
            == struct.unpack(">d", bytes.fromhex("3f50624dd2f1a9fc"))[0]
        )
        assert stored["params/nan"].is_nan
        assert stored["params/seed"].text == str(-(2**63))
        assert stored["params/amp"].kind == Kind.BOOLEAN
        assert (
            stored["params/model"].text == described("params/model")["value"]["string"]
        )
        assert stored["params/started"].text == "2026-01-01T00:00:00.000001+00:00"
        assert stored["params/augmentations"].items == ["crop", "flip"]
        assert stored["__proto__/../constructor"].text == ""
        assert stored["tags"].items == ["baseline", "cpu"]

    def test_the_spool_is_closed(self, run):
        spool = Spool.objects.get()

        assert (run.name, run.state) == ("baseline", State.FAILED)
        assert (spool.dropped_points, spool.failure) == (17, "ValueError: loss is NaN")


@pytest.mark.django_db
def test_reads_whether_another_process_sees_its_end(member):
    for is_helper in (False, True):
        origin = messages.Origin(
            *("vision", "run", "train", 0, "node", 1, "0", 1), is_helper=is_helper
        )
        frame = Frame(1, messages.payload([messages.open_spool(origin)]))
        store_batch(actor_of(member), uuid4(), frame.to_bytes())

    told = Spool.objects.values_list("is_helper", flat=True)
    assert sorted(told) == [False, True]
