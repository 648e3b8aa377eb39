import pytest

from tests.builders import frames, open_message, points_message, set_message
from tracker.errors import FrameDiffers, OutOfOrder
from tracker.ingest import pipeline
from tracker.ingest.batch import read_batch
from tracker.ingest.limits import Limits
from tracker.ingest.pipeline import (
    REMEMBERED_FRAMES,
    SINGLE_VALUES,
    Known,
    judge,
    remembered_checksums,
)
from tracker.models import Kind


def known(*, last_number=1, kinds=None, attribute_count=0):
    return Known(last_number, kinds or {}, attribute_count)


def batch_of(*payloads, first=2):
    return read_batch(frames(payloads, first=first))


def paths(batch):
    return [message.content.path for message in batch.messages]


def test_frames_that_are_stored_are_skipped():
    batch = batch_of([set_message("a", 1)], [set_message("b", 1)], [{"t": "?"}])

    judged = judge(batch, known(last_number=2))

    assert (judged.first, judged.last) == (3, 4)
    assert paths(judged) == ["b"]
    assert len(judged.refusals) == 1


def test_a_fully_stored_batch_becomes_a_heartbeat():
    judged = judge(batch_of([set_message("a", 1)], [{"t": "?"}]), known(last_number=9))

    assert judged.is_heartbeat
    assert (judged.messages, judged.refusals) == ((), ())


def test_a_gap_says_where_to_go_on():
    with pytest.raises(OutOfOrder) as refusal:
        judge(batch_of([set_message("a", 1)], first=9), known(last_number=4))

    assert refusal.value.expected == 5


def test_an_opening_that_is_stored_is_skipped_too():
    judged = judge(
        batch_of([open_message()], [set_message("a", 1)], first=1), known(last_number=1)
    )

    assert judged.opening is None
    assert paths(judged) == ["a"]


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        pytest.param(Kind.FILE, set_message("x", 1.0), id="value on file"),
        pytest.param(Kind.FLOAT, points_message("x", [1.0]), id="series on value"),
        pytest.param(Kind.FLOAT_SERIES, set_message("x", 1.0), id="value on series"),
    ],
)
def test_a_series_a_file_and_a_value_do_not_replace_each_other(stored, message):
    judged = judge(batch_of([message]), known(kinds={"x": stored}))

    assert [(r.code, r.path) for r in judged.refusals] == [("type_conflict", "x")]
    assert judged.messages == ()


@pytest.mark.parametrize("stored", sorted(SINGLE_VALUES))
@pytest.mark.parametrize("value", [1, 0.5, True, "text", ["a"], None], ids=repr)
def test_a_value_replaces_one_of_another_type(stored, value):
    judged = judge(batch_of([set_message("x", value)]), known(kinds={"x": stored}))

    assert judged.refusals == ()


def test_tags_stay_a_set_of_texts():
    judged = judge(batch_of([set_message("tags", 1)]), known())

    assert [(r.code, r.path) for r in judged.refusals] == [("type_conflict", "tags")]


def test_within_a_batch_the_first_message_decides_the_type():
    judged = judge(
        batch_of([set_message("x", "a"), points_message("x", [1.0])]), known()
    )

    assert [refusal.index for refusal in judged.refusals] == [1]


def test_tags_are_the_string_set_of_that_name():
    change = {"t": "tags", "add": ["a"], "remove": []}

    accepted = judge(batch_of([change]), known(kinds={"tags": Kind.STRING_SET}))
    refused = judge(batch_of([change]), known(kinds={"tags": Kind.FLOAT_SERIES}))

    assert accepted.refusals == ()
    assert [refusal.code for refusal in refused.refusals] == ["type_conflict"]


def test_new_paths_beyond_the_limit_are_refused_and_old_ones_written(monkeypatch):
    monkeypatch.setattr(pipeline, "LIMITS", Limits(attributes=3))
    batch = batch_of([set_message(path, 1) for path in ("old", "new", "next", "next")])

    judged = judge(batch, known(kinds={"old": Kind.INTEGER}, attribute_count=2))

    assert paths(judged) == ["old", "new"]
    assert {refusal.code for refusal in judged.refusals} == {"too_many_attributes"}
    assert len(judged.refusals) == 2


def test_only_paths_of_another_kind_are_refused_in_a_message():
    message = {**points_message("a", [1.0]), "paths": ["a", "b"]}
    message["values"] = message["values"] * 2

    judged = judge(batch_of([message]), known(kinds={"a": Kind.STRING}))

    assert [m.content.paths for m in judged.messages] == [("b",)]
    assert [(r.code, r.path) for r in judged.refusals] == [("type_conflict", "a")]


def test_a_stored_frame_that_comes_again_with_other_content_is_refused():
    first, other = batch_of([set_message("a", 1)]), batch_of([set_message("a", 2)])
    before = known(last_number=1)
    stored = Known(2, {}, 0, remembered_checksums(before.checksums, first))

    assert judge(first, stored).is_heartbeat
    with pytest.raises(FrameDiffers, match="Frame 2"):
        judge(other, stored)


def test_a_refusal_says_which_frames_are_stored_all_the_same():
    numbers = range(REMEMBERED_FRAMES + 9)
    many = batch_of(*([set_message("a", n)] for n in numbers))
    stored = Known(many.last, {}, 0, remembered_checksums(b"", many))
    oldest = many.last - REMEMBERED_FRAMES + 1

    def refused(*different):
        values = [
            -n if number in different else n for number, n in enumerate(numbers, 2)
        ]
        with pytest.raises(FrameDiffers) as refusal:
            judge(batch_of(*([set_message("a", value)] for value in values)), stored)
        return refusal.value.first, refusal.value.stored

    assert refused(many.last) == (many.last, [])
    assert refused(many.last - 2) == (many.last - 2, [many.last - 1, many.last])
    # Records before the last remembered one are unknown.
    assert refused(oldest) == (2, [*range(oldest + 1, many.last + 1)])


def test_an_empty_frame_may_stand_for_a_stored_one():
    stored = Known(2, {}, 0, remembered_checksums(b"", batch_of([set_message("a", 1)])))

    assert judge(batch_of([]), stored).is_heartbeat
    assert judge(batch_of([{"t": "drop", "points": 3}]), stored).is_heartbeat


def test_only_the_last_frames_are_remembered():
    many = batch_of(*([set_message("a", n)] for n in range(REMEMBERED_FRAMES + 9)))

    checksums = remembered_checksums(b"", many)

    assert len(checksums) == 4 * REMEMBERED_FRAMES
    stored = Known(many.last, {}, 0, checksums)
    assert judge(many, stored).is_heartbeat
    # Too old to be known, so it counts as the stored one.
    assert judge(batch_of([set_message("b", 1)]), stored).is_heartbeat
