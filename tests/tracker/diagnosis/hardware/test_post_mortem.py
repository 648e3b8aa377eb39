from __future__ import annotations

import pytest

from tracker.diagnosis.hardware.post_mortem import Contents

FULL = Contents(
    {"parameters": 10.0, "optimizer": 20.0, "activations": 60.0},
    requested=4.0,
    allocated=90.0,
    reserved=100.0,
)


def test_the_largest_part_comes_first():
    assert FULL.text.startswith("It held 60 B of activations, 20 B of optimizer")
    assert FULL.is_mostly("activations")
    assert not FULL.is_mostly("optimizer")


def test_a_batch_fits_beside_what_does_not_shrink():
    # 90 in total, 30 of it fixed, and 64 for 32 examples.
    assert FULL.batch_that_fits(32.0) == 30.0


@pytest.mark.parametrize(
    ("contents", "batch_size"),
    [
        pytest.param(FULL, None, id="no batch is known"),
        pytest.param(FULL, 1.0, id="a batch of one"),
        pytest.param(Contents({"activations": 60.0}), 32.0, id="no allocator"),
        pytest.param(
            Contents({"optimizer": 99.0, "activations": 1.0}, reserved=100.0),
            32.0,
            id="no room at all",
        ),
    ],
)
def test_no_batch_is_invented(contents, batch_size):
    assert contents.batch_that_fits(batch_size) is None


def test_pieces_are_to_blame_if_what_was_asked_for_would_fit_into_them():
    pieces = Contents({"parameters": 60.0}, 4.0, allocated=60.0, reserved=100.0)

    assert pieces.is_fragmented
    assert not FULL.is_fragmented
    assert not Contents({}, None, allocated=60.0, reserved=100.0).is_fragmented
