from __future__ import annotations

from pathlib import Path

import pytest

from tracker.diagnosis.signals import SIGNALS, Kind

MONITORING = Path(__file__).parents[3] / "docs" / "monitoring.md"

every_signal = pytest.mark.parametrize("signal", SIGNALS.values(), ids=lambda s: s.name)


@every_signal
def test_every_path_is_one_the_agent_writes(signal):
    assert not signal.path or f"`{signal.path}`" in MONITORING.read_text("utf-8")


@every_signal
def test_every_signal_says_what_it_is_and_where_it_comes_from(signal):
    assert signal.description.endswith(".")
    assert signal.code


@every_signal
def test_only_measurements_and_facts_of_gpus_are_per_gpu(signal):
    assert not signal.is_per_gpu or signal.kind in (Kind.SAMPLED, Kind.FACT)
