from __future__ import annotations

import numpy as np

from tests.tracker.diagnosis.stages import SECOND, START
from tracker.diagnosis.analysis.episodes import find_episodes, is_during
from tracker.diagnosis.breakdown.phases import PhaseKind
from tracker.diagnosis.signals import Samples


def at(*seconds):
    return START + np.array(seconds, dtype=np.int64) * SECOND


def test_episodes_between_steps_and_within_steps_both_count():
    episodes = find_episodes(
        PhaseKind.EVALUATE,
        {"validate": Samples(at(100), np.array([20.0]))},
        {"evaluate": np.array([0.0, 5.0])},
        at(10, 30) / 1e6,
    )

    assert episodes is not None
    assert len(episodes) == 2
    assert episodes.total == 25.0
    during = is_during(at(24, 26, 30, 31, 80, 81, 100, 101), episodes)
    assert list(during) == [False, True, True, False, False, True, True, False]


def test_a_kind_without_phases_has_no_episodes():
    spans = {"save": Samples(at(1), np.array([1.0]))}

    assert find_episodes(PhaseKind.EVALUATE, spans, None, None) is None
