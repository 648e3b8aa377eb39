"""A random forest for regression, and the permutation importance of its features (pure).

Written with numpy, because the server needs no other part of a machine-learning library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

TREES = 100
MIN_LEAF = 2
# Each split uses a third of the columns, as usual in regression forests.
SHARE_OF_COLUMNS = 1 / 3
# The same runs give the same result on every page.
SEED = 0
LEAF = -1


@dataclass(frozen=True, slots=True)
class ForestResult:
    """The importance of each feature, and how well the forest predicts.

    `importances`: for each feature the mean increase of the squared error on out-of-bag
    samples if its values are shuffled, in units of the variance; never below 0.
    `explained`: the out-of-bag R², at most 1; 0 or less if the forest predicts nothing.
    """

    importances: Floats
    explained: float


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes as parallel arrays; a leaf has the column LEAF."""

    columns: Places
    limits: Floats
    lower: Places  # the child for values up to the limit
    upper: Places
    means: Floats

    def predict(self, x: Floats) -> Floats:
        nodes: Places = np.zeros(len(x), dtype=np.intp)
        rows = np.arange(len(x))
        while True:
            columns = self.columns[nodes]
            if (columns == LEAF).all():
                return self.means[nodes]
            is_lower = x[rows, columns] <= self.limits[nodes]
            child = np.where(is_lower, self.lower[nodes], self.upper[nodes])
            nodes = np.where(columns == LEAF, nodes, child)


def permutation_importance(features: Sequence[Floats], y: Floats) -> ForestResult:
    """Fit a forest to `y`, one value for each run, and shuffle each feature in turn.

    A feature is an array of runs × columns, finite; its columns are shuffled together.
    `y` is finite and not constant.
    """
    generator = np.random.default_rng(SEED)
    x = np.concatenate(features, axis=1)
    ends = np.cumsum([feature.shape[1] for feature in features])
    starts = ends - [feature.shape[1] for feature in features]
    increases: Floats = np.zeros(len(features))
    total: Floats = np.zeros(len(y))
    count: Floats = np.zeros(len(y))
    grown = 0
    for _ in range(TREES):
        drawn = generator.integers(len(y), size=len(y))
        out = np.setdiff1d(np.arange(len(y)), drawn)
        if not len(out):
            continue
        tree = grow(x[drawn], y[drawn], generator)
        shuffled = np.repeat(x[out][None], len(features) + 1, axis=0)
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            order = generator.permutation(len(out))
            shuffled[place, :, start:end] = shuffled[place, order, start:end]
        predicted = tree.predict(shuffled.reshape(-1, x.shape[1]))
        predicted = predicted.reshape(len(features) + 1, len(out))
        errors = ((predicted - y[out]) ** 2).mean(axis=1)
        increases += errors[:-1] - errors[-1]
        total[out] += predicted[-1]
        count[out] += 1
        grown += 1
    variance = float(y.var())
    known = count > 0
    error = float(((total[known] / count[known] - y[known]) ** 2).mean())
    importances = np.maximum(increases / max(grown, 1) / variance, 0)
    return ForestResult(importances, 1 - error / variance)


def grow(x: Floats, y: Floats, generator: np.random.Generator) -> Tree:
    """Grow a tree on samples × columns; each split reduces the squared error most."""
    tries = math.ceil(x.shape[1] * SHARE_OF_COLUMNS)
    columns, limits, lower, upper, means = [LEAF], [0.0], [0], [0], [float(y.mean())]
    waiting = [(0, np.arange(len(y)))]
    while waiting:
        node, members = waiting.pop()
        chosen = generator.permutation(x.shape[1])[:tries]
        found = _best_split(x[members][:, chosen], y[members])
        if found is None:
            continue
        column, limit = found
        is_lower = x[members, chosen[column]] <= limit
        children = (members[is_lower], members[~is_lower])
        columns[node], limits[node] = int(chosen[column]), limit
        lower[node], upper[node] = len(means), len(means) + 1
        for child in children:
            waiting.append((len(means), child))
            columns.append(LEAF)
            limits.append(0.0)
            lower.append(0)
            upper.append(0)
            means.append(float(y[child].mean()))
    return Tree(
        np.array(columns),
        np.array(limits),
        np.array(lower),
        np.array(upper),
        np.array(means),
    )


def _best_split(x: Floats, y: Floats) -> tuple[int, float] | None:
    """Return the column and the limit of the best split; None if none helps."""
    count = len(y)
    if count < 2 * MIN_LEAF:
        return None
    y = y - y.mean()
    order = np.argsort(x, axis=0, kind="stable")
    placed = np.take_along_axis(x, order, axis=0)
    sums = np.cumsum(y[order], axis=0)[:-1]
    sizes = np.arange(1, count)[:, None]
    # The sums of both sides add up to 0, so one of them is enough.
    gains = sums**2 / sizes + sums**2 / (count - sizes)
    is_split = placed[1:] > placed[:-1]
    is_split &= (sizes >= MIN_LEAF) & (count - sizes >= MIN_LEAF)
    gains = np.where(is_split, gains, 0.0)
    row, column = np.unravel_index(int(gains.argmax()), gains.shape)
    if gains[row, column] <= 1e-12 * count:
        return None
    return int(column), float((placed[row, column] + placed[row + 1, column]) / 2)
