"""Repeated, reordered and contradictory batches through real web servers."""

from __future__ import annotations

import pytest

from tests.slow.faults import repeats

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.processes,
    pytest.mark.timeout(600),
]


def test_the_same_a_hundred_times_at_once_has_one_effect_and_one_answer(installation):
    result = repeats.repeat(installation, 100)

    assert result.passed, result.figure


def test_shuffled_and_delayed_batches_converge_without_gaps(installation, size):
    result = repeats.shuffle(installation, size(1))

    assert result.passed, result.figure
    assert result.figure["answers_409"]


def test_a_number_sent_again_with_another_content_is_refused(installation):
    result = repeats.contradict(installation, 2)

    assert result.passed, result.figure
