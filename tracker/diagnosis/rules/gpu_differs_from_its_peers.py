"""One GPU differs from its peers.

## Detection
At least three busy GPUs of one model with similar load, one of which is more than 15 °C
warmer than the others, runs at 5 % lower clocks, or draws 15 % more or less power.

## Why it matters
Cards that do the same work should have the same values. An outlier has poor cooling, a poor
power supply or a defect, and in synchronous training all ranks wait for it.

## Limitations
Ranks with different work load their cards differently: only cards with similar utilization
and memory use are compared.
The position in the case explains some degrees.
A difference of a few percent in power between two cards is normal.

Catalogue: H8, outlier among peers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.diagnosis.analysis.statistics import margin_above, typical, typical_or_none
from tracker.diagnosis.engine.finding import (
    AGREEING,
    ALONE,
    SAMPLED,
    Abstention,
    Answer,
    Evidence,
    Finding,
    Recommendation,
    Severity,
    Side,
)
from tracker.diagnosis.hardware.busy import BUSY_GPU_PERCENT, while_busy
from tracker.diagnosis.hardware.clocks import clock_gain
from tracker.diagnosis.signals import Fact, Samples

NO_PEERS = "three busy GPUs of the same model"

Signals = Mapping[str, Samples | Fact]

SUBJECTS = {
    "gpu_temperature_celsius": "temperature",
    "gpu_sm_clock_mhz": "SM clock",
    "gpu_power_watts": "power",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a project may change."""

    busy_gpu_percent: float = BUSY_GPU_PERCENT

    fewest_peers: int = 3
    same_load_percent: float = 15.0
    # A card with much more or less memory in use runs another program.
    same_memory_share: float = 0.50

    warmer_celsius: float = 15.0
    warmer_release_celsius: float = 12.0
    slower_share: float = 0.05
    slower_release_share: float = 0.03
    power_share: float = 0.15
    power_release_share: float = 0.12


@dataclass(frozen=True, slots=True)
class _Card:
    gpu: int
    busy_percent: float
    medians: Mapping[str, float]  # while busy
    memory_bytes: float | None


@dataclass(frozen=True, slots=True)
class _Difference:
    """A value that differs from that of the peers; `excess` is 1 at the limit."""

    signal: str
    value: float
    of_peers: float
    unit: str
    excess: float
    text: str


def check(
    gpus: Mapping[int, Signals],
    *,
    already_open: bool = False,
    limits: Limits = Limits(),
) -> Answer:
    groups = [g for g in _groups(gpus, limits) if len(g) >= limits.fewest_peers]
    if not groups:
        return Abstention((NO_PEERS,))

    found = [
        (card, differences)
        for cards in groups
        for card in cards
        if (
            differences := _differences(
                card, cards, already_open=already_open, limits=limits
            )
        )
    ]
    if not found:
        return None
    card, differences = max(found, key=lambda pair: sum(d.excess for d in pair[1]))
    return _finding(card, differences, gpus[card.gpu])


def _groups(gpus: Mapping[int, Signals], limits: Limits) -> list[list[_Card]]:
    """Return cards of one model with similar load."""
    by_name: dict[str, list[_Card]] = {}
    for gpu, signals in sorted(gpus.items()):
        name, busy = signals.get("gpu_name"), signals.get("gpu_utilization_percent")
        if not isinstance(name, str) or not isinstance(busy, Samples):
            continue
        if not typical(busy) >= limits.busy_gpu_percent:
            continue
        medians = {
            signal: typical(while_busy(samples, busy, limits.busy_gpu_percent))
            for signal in ("gpu_temperature_celsius", "gpu_sm_clock_mhz")
            if isinstance(samples := signals.get(signal), Samples)
        }
        power = signals.get("gpu_power_mean_watts", signals.get("gpu_power_watts"))
        if isinstance(power, Samples):
            medians["gpu_power_watts"] = typical(
                while_busy(power, busy, limits.busy_gpu_percent)
            )
        known = {name: value for name, value in medians.items() if value > 0}
        memory = typical_or_none(_samples(signals, "gpu_memory_used_bytes"))
        by_name.setdefault(name, []).append(_Card(gpu, typical(busy), known, memory))
    return [_same_load(cards, limits) for cards in by_name.values()]


def _same_load(cards: list[_Card], limits: Limits) -> list[_Card]:
    usual = float(np.median([card.busy_percent for card in cards]))
    cards = [
        c for c in cards if abs(c.busy_percent - usual) <= limits.same_load_percent
    ]
    used = [card.memory_bytes for card in cards if card.memory_bytes]
    if not used:
        return cards
    most = limits.same_memory_share * (middle := float(np.median(used)))
    return [
        card
        for card in cards
        if not card.memory_bytes or abs(card.memory_bytes - middle) <= most
    ]


def _samples(signals: Signals, name: str) -> Samples | None:
    found = signals.get(name)
    return found if isinstance(found, Samples) else None


def _differences(
    card: _Card, cards: list[_Card], *, already_open: bool, limits: Limits
) -> list[_Difference]:
    peers = {
        signal: float(np.median(others))
        for signal in card.medians
        if len(others := [c.medians[signal] for c in cards if signal in c.medians])
        >= limits.fewest_peers
    }
    found = []
    if (signal := "gpu_temperature_celsius") in peers:
        value, usual = card.medians[signal], peers[signal]
        limit = limits.warmer_release_celsius if already_open else limits.warmer_celsius
        text = f"{value - usual:.0f} °C warmer"
        found.append(
            _Difference(signal, value, usual, "°C", (value - usual) / limit, text)
        )
    if (signal := "gpu_sm_clock_mhz") in peers:
        value, usual = card.medians[signal], peers[signal]
        lacks = 1.0 - value / usual
        limit = limits.slower_release_share if already_open else limits.slower_share
        text = f"SM clock {lacks * 100:.0f} % lower"
        found.append(_Difference(signal, value, usual, "MHz", lacks / limit, text))
    if (signal := "gpu_power_watts") in peers:
        value, usual = card.medians[signal], peers[signal]
        apart = value / usual - 1.0
        limit = limits.power_release_share if already_open else limits.power_share
        text = f"power {abs(apart) * 100:.0f} % {'higher' if apart > 0 else 'lower'}"
        found.append(_Difference(signal, value, usual, "W", abs(apart) / limit, text))
    return [difference for difference in found if difference.excess >= 1.0]


def _finding(card: _Card, differences: list[_Difference], signals: Signals) -> Finding:
    how = ", ".join(difference.text for difference in differences)
    clock = next((d for d in differences if d.signal == "gpu_sm_clock_mhz"), None)
    busy = signals["gpu_utilization_percent"]
    worst = max(differences, key=lambda difference: difference.excess)
    return Finding(
        title=f"GPU {card.gpu} differs from its peers",
        severity=Severity.WARNING if clock or len(differences) > 1 else Severity.NOTICE,
        summary=(
            f"GPU {card.gpu} differs from GPUs of the same model under the same load:"
            f" {how}."
        ),
        evidence=tuple(
            Evidence(
                d.signal,
                f"{SUBJECTS[d.signal]} of GPU {card.gpu}, median (limit: that of its peers)",
                d.value,
                d.unit,
                d.of_peers,
                Side.ABOVE if d.value > d.of_peers else Side.BELOW,
            )
            for d in differences
        ),
        recommendations=(
            Recommendation(
                f"Inspect GPU {card.gpu}: fan and heat sink, power cables, and"
                " locked clocks."
            ),
            Recommendation(
                "Swap it with another card: if the difference moves with the card, it is the"
                " card's, otherwise the slot's."
            ),
        ),
        disproof=(
            "Swap the ranks of two cards: if the difference follows the"
            " rank, the work is the cause and not the card."
        ),
        # All ranks wait for the slowest card.
        gain=clock_gain(busy, clock_mhz=clock.value, full_mhz=clock.of_peers)
        if clock and isinstance(busy, Samples)
        else None,
        quality=SAMPLED,
        margin=margin_above(worst.excess, 1.0),
        corroboration=AGREEING if len(differences) > 1 else ALONE,
    )
