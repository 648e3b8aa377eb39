"""Which parameters a metric depends on, over the finished runs of a sweep.

Ranks take the place of values: a diverged run or a learning rate on a logarithmic scale
weighs no more than any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracker.models import Run
from tracker.queries.compare.forest import Floats, permutation_importance
from tracker.queries.compare.values import read_columns
from tracker.queries.run.attributes import Seen

MIN_RUNS = 10
# The forest of more would keep the page waiting.
MAX_RUNS = 300
MAX_PARAMETERS = 60
# Maximum number of text values with a separate column; rarer values have none.
MAX_WORDS = 12
# From this rank correlation on, the effects of two parameters cannot be separated.
COLLINEAR = 0.9
FINISHED = "finished"
MISSING = -1.0

Value = float | str | None
BOOLEANS = {"false": 0.0, "true": 1.0}


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """A parameter that differs among the runs.

    `share` is its part of the sum of all importances, from 0 to 1. `correlation` is
    Spearman's rank correlation with the metric, from -1 to 1; None for texts, and where
    fewer than MIN_RUNS runs have the parameter.
    """

    path: str
    share: float
    correlation: float | None
    run_count: int

    @property
    def strength(self) -> float:
        return abs(self.correlation or 0.0)


@dataclass(frozen=True, slots=True)
class Importance:
    """The result for one metric; `rows` begin with the most important parameter.

    `run_count` counts finished runs with the metric; there are no rows if these are
    fewer than `needed`, if no parameter differs or if the metric is constant.
    `explained` is the out-of-bag R² of the forest. `together` lists groups of collinear
    parameters.
    """

    metric: str
    rows: tuple[ParameterRow, ...] = ()
    run_count: int = 0
    ignored_count: int = 0
    explained: float = 0.0
    together: tuple[tuple[str, ...], ...] = ()
    is_constant: bool = False
    omitted_count: int = 0
    needed: int = MIN_RUNS
    at_most: int = MAX_RUNS

    @property
    def has_enough_runs(self) -> bool:
        return self.run_count >= self.needed

    @property
    def is_explained(self) -> bool:
        return self.explained > 0 and any(row.share for row in self.rows)


@dataclass(frozen=True, slots=True)
class _Feature:
    """A parameter as the forest sees it; `numbers` has NaN where a run lacks it."""

    path: str
    columns: Floats
    labels: tuple[int, ...]
    numbers: Floats | None
    run_count: int


def read_importance(
    runs: Sequence[Run],
    metric: str,
    parameters: Sequence[str],
    seen: Seen | None = None,
) -> Importance:
    """Read the metric and the parameters of the finished runs, and rank the parameters."""
    finished = [run for run in runs if run.state == FINISHED]
    names = sorted(set(parameters) - {metric})
    first, *columns = read_columns(finished, [metric, *names], seen)
    kept = [
        place for place, value in enumerate(first.values) if isinstance(value, float)
    ][:MAX_RUNS]
    return importance_of(
        metric,
        [_float(first.values[place]) for place in kept],
        {
            column.dimension: [column.values[place] for place in kept]
            for column in columns
        },
        ignored_count=len(runs) - len(kept),
    )


def _float(value: Value) -> float:
    return float(value or 0.0)


def importance_of(
    metric: str,
    values: Sequence[float],
    parameters: dict[str, list[Value]],
    *,
    ignored_count: int = 0,
) -> Importance:
    """Rank parameters by a random forest's permutation importance; pure.

    `values` and each list of `parameters` have one item for each run.
    """
    target = ranks(np.array(values, dtype=np.float64))
    is_constant = len(set(values)) < 2  # noqa: PLR2004 - two values differ
    found = [_feature(path, column) for path, column in parameters.items()]
    features = [feature for feature in found if feature is not None]
    known = Importance(
        metric,
        run_count=len(values),
        ignored_count=ignored_count,
        is_constant=is_constant,
    )
    if not known.has_enough_runs or is_constant or not features:
        return known
    kept = _most_correlated(features, target)
    fitted = permutation_importance([each.columns for each in kept], target)
    total = float(fitted.importances.sum()) or 1.0
    rows = [
        ParameterRow(
            feature.path,
            float(importance) / total,
            _correlation(feature.numbers, target),
            feature.run_count,
        )
        for feature, importance in zip(kept, fitted.importances, strict=True)
    ]
    return Importance(
        metric,
        tuple(sorted(rows, key=lambda row: (-row.share, -row.strength, row.path))),
        run_count=len(values),
        ignored_count=ignored_count,
        explained=fitted.explained,
        together=_collinear(kept),
        omitted_count=len(features) - len(kept),
    )


def ranks(values: Floats) -> Floats:
    """Return the rank of each value from 0; equal ones share their mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: Floats = ends - (counts + 1) / 2
    return means[places]


def _feature(path: str, values: Sequence[Value]) -> _Feature | None:
    """Encode a parameter; None if it is the same in all runs or names each of them."""
    present = [value for value in values if value is not None]
    if len(set(values)) < 2:  # noqa: PLR2004 - two values differ
        return None
    labels = _labels(values)
    read = [
        BOOLEANS.get(value, value) if isinstance(value, str) else value
        for value in values
    ]
    if not any(isinstance(value, str) for value in read):
        numbers = np.array([np.nan if v is None else v for v in read], dtype=np.float64)
        has_value = np.isfinite(numbers)
        column = np.full(len(values), MISSING)
        column[has_value] = ranks(numbers[has_value])
        return _Feature(path, column[:, None], labels, numbers, len(present))
    counts = Counter(map(str, present))
    if len(counts) == len(present):
        return None
    words = [word for word, _ in counts.most_common(MAX_WORDS)]
    columns = np.array([[float(str(v) == word) for word in words] for v in values])
    return _Feature(path, columns, labels, None, len(present))


def _labels(values: Sequence[Value]) -> tuple[int, ...]:
    """Number the values in order of appearance: equal results divide the runs alike."""
    places: dict[Value, int] = {}
    return tuple(places.setdefault(value, len(places)) for value in values)


def _most_correlated(features: list[_Feature], target: Floats) -> list[_Feature]:
    """Return at most MAX_PARAMETERS; texts before numbers with a low correlation."""

    def strength(feature: _Feature) -> float:
        correlation = _correlation(feature.numbers, target)
        return 1.0 if correlation is None else abs(correlation)

    return sorted(features, key=strength, reverse=True)[:MAX_PARAMETERS]


def _correlation(numbers: Floats | None, target: Floats) -> float | None:
    """Return Spearman's correlation over the runs that have both values."""
    if numbers is None:
        return None
    has_value = np.isfinite(numbers) & np.isfinite(target)
    if has_value.sum() < MIN_RUNS:
        return None
    one, other = ranks(numbers[has_value]), ranks(target[has_value])
    if not (one.std() and other.std()):
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _collinear(features: Sequence[_Feature]) -> tuple[tuple[str, ...], ...]:
    """Return groups of parameters that change together."""
    groups: list[list[_Feature]] = []
    for feature in features:
        near = [group for group in groups if any(_is_alike(feature, m) for m in group)]
        groups = [group for group in groups if group not in near]
        groups.append([feature, *(member for group in near for member in group)])
    named = (tuple(sorted(m.path for m in group)) for group in groups if len(group) > 1)
    return tuple(sorted(named))


def _is_alike(one: _Feature, other: _Feature) -> bool:
    if one.numbers is None or other.numbers is None:
        return one.labels == other.labels
    correlation = _correlation(one.numbers, other.numbers)
    return correlation is not None and abs(correlation) >= COLLINEAR
