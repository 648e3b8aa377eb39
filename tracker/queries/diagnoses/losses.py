"""Reads the losses, evaluation metrics and learning rates of a run, for rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from operator import or_

import numpy as np
from django.db.models import Q

from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase
from tracker.diagnosis.signals import Tracked
from tracker.models import Attribute, Kind, Stage
from tracker.queries.run.attributes import attribute_paths
from tracker.queries.run.namespaces import MONITORING
from tracker.queries.series.thinned import read_curves
from tracker.series.points import Points

# Names that mark a loss: `train/loss`, `loss_total`, `val/nll`.
WORDS = ("loss", "nll", "perplexity", "ppl")
LOSS = re.compile(rf"(^|[/_.-])({'|'.join(WORDS)})([_.-][^/]*)?$", re.IGNORECASE)

MAX_LOSSES = 8

EVALUATIONS = ("val", "eval", "test")
RATES = ("lr", "learning_rate", "learningrate")
RATE = re.compile(rf"(^|[/_.-])({'|'.join(RATES)})([_./-][^/]*)?$", re.IGNORECASE)
# One or two logged series are enough.
MAX_OTHERS = 2


def read_losses(stage: Stage) -> dict[str, Tracked]:
    """Return the losses below the stage's name, or else those of the run."""
    return losses_of(read_curves(stage.run, loss_paths(stage)))


def read_evaluations(stage: Stage) -> dict[str, Tracked]:
    """Return some of the series that the run logs in evaluations."""
    paths = [
        path
        for path in _series_with(stage, EVALUATIONS)
        if kind_of_phase(path) is PhaseKind.EVALUATE
    ]
    return losses_of(read_curves(stage.run, paths[:MAX_OTHERS]))


def read_learning_rates(stage: Stage) -> dict[str, Tracked]:
    """Return learning rates that the run logs, or else one among its parameters."""
    paths = [path for path in _series_with(stage, RATES) if RATE.search(path)]
    if paths:
        return losses_of(read_curves(stage.run, paths[:MAX_OTHERS]))
    parameters = Attribute.objects.filter(
        run_id=stage.run_id, is_parameter=True, number__isnull=False
    ).filter(reduce(or_, (Q(path__icontains=word) for word in RATES)))
    return {
        path: Tracked(np.zeros(1), np.zeros(1, np.int64), np.array([number]))
        for path, number in parameters.values_list("path", "number")
        if RATE.search(path)
    }


def _series_with(stage: Stage, words: tuple[str, ...]) -> list[str]:
    # The database filters by substring first, because few of many series match.
    is_series = Q(kind=Kind.FLOAT_SERIES) & ~Q(path__startswith=MONITORING)
    is_series &= reduce(or_, (Q(path__icontains=word) for word in words))
    return attribute_paths(stage.run, where=is_series)


def loss_paths(stage: Stage) -> list[str]:
    paths = [path for path in _series_with(stage, WORDS) if LOSS.search(path)]
    own = [path for path in paths if path.startswith(f"{stage.name}/")]
    if own:
        return own[:MAX_LOSSES]
    others = {other.name for other in Stage.objects.filter(run_id=stage.run_id)}
    shared = [path for path in paths if path.partition("/")[0] not in others]
    return shared[:MAX_LOSSES]


def losses_of(points: Mapping[str, Points]) -> dict[str, Tracked]:
    return {
        path: Tracked(found.steps, found.times, found.values)
        for path, found in points.items()
        if len(found)
    }
