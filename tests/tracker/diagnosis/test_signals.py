from __future__ import annotations

from pathlib import Path

from tracker.diagnosis.signals import SIGNALS, Kind

MONITORING = Path(__file__).parents[3] / "docs" / "monitoring.md"


def names(signals):
    return [signal.name for signal in signals]


def test_every_path_is_one_the_agent_writes():
    written = MONITORING.read_text("utf-8")
    with_path = [signal for signal in SIGNALS.values() if signal.path]

    assert with_path
    assert names(s for s in with_path if f"`{s.path}`" not in written) == []


def test_every_signal_says_what_it_is_and_where_it_comes_from():
    assert (
        names(
            signal
            for signal in SIGNALS.values()
            if not signal.description.endswith(".") or not signal.code
        )
        == []
    )


def test_only_measurements_and_facts_of_gpus_are_per_gpu():
    assert (
        names(
            signal
            for signal in SIGNALS.values()
            if signal.is_per_gpu and signal.kind not in (Kind.SAMPLED, Kind.FACT)
        )
        == []
    )
