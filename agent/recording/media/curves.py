"""Figures of classifiers: confusion matrix, ROC and precision-recall curves, as Plotly JSON.

The call copies the values; the copy thread computes the figure.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from math import isfinite
from typing import Any

from seamark.errors import AgentError, UnsupportedValue
from seamark.recording.duck_types import can, list_of
from seamark.recording.file_contents import PLOTLY
from seamark.recording.media.images import Encoder
from seamark.recording.media.media import Media

MAX_SAMPLES = 1_000_000
MAX_CLASSES = 200
MAX_CURVES = 50
MAX_POINTS = 500  # of a drawn curve
# Up to so many classes, cells show their counts.
_CELLS_WITH_TEXT = 30
_SAMPLE_BYTES = 32
_LONGEST_LABEL = 100
_SAMPLES_AND_CLASSES = 2  # dimensions
# Plotly's own shades of blue differ between its libraries.
_SHADES = ((0, "#f7fbff"), (0.5, "#6baed6"), (1, "#08306b"))

# x and y of a curve, and its area; None without samples of both kinds.
Curve = tuple[list[float], list[float], float | None]
Figure = dict[str, object]
# Whether a sample is positive, and its score.
Scored = list[tuple[bool, float]]
# The function of a curve, the titles of its axes, and the name of its area.
Kind = tuple[Callable[[Scored], Curve], str, str, str]


class ClassifierFigure(Media):
    """A figure that is computed from the predictions of a classifier."""

    __slots__ = ("_read",)

    def __init__(
        self, content: object, read: Callable[[], tuple[Callable[[], Figure], int]]
    ) -> None:
        super().__init__(content, media_type=PLOTLY)
        self._read = read

    def made(self) -> tuple[str, Encoder]:
        try:
            draw, count = self._read()
        except AgentError:
            raise
        except Exception as error:
            # The values' own code ran.
            reason = f"cannot be drawn ({type(error).__name__}: {error})"
            raise UnsupportedValue(self.content, reason) from error
        return PLOTLY, Encoder(partial(_encoded, draw), _SAMPLE_BYTES * count)


def confusion_matrix(
    y_true: object, y_pred: object, labels: Sequence[object] | None = None
) -> Media:
    """Return a confusion matrix: `run["eval/confusion"] = agent.confusion_matrix(…)`.

    Args:
        y_true: The class of each sample: integers or texts, up to 1,000,000.
        y_pred: The predicted classes, or scores of shape (samples, classes).
        labels: The names of classes 0, 1, …, or texts in the order to show; up to 200.
    """
    return ClassifierFigure(y_pred, lambda: _read_matrix(y_true, y_pred, labels))


def roc_curve(
    y_true: object, y_score: object, labels: Sequence[object] | None = None
) -> Media:
    """Return ROC curves with their areas: `run["eval/roc"] = agent.roc_curve(…)`.

    Args:
        y_true: The class of each sample, as integers from 0, up to 1,000,000.
        y_score: Scores of class 1, or scores of shape (samples, classes) for one curve
            for each class.
        labels: The names of classes 0, 1, …
    """
    return ClassifierFigure(
        y_score, lambda: _read_scores(y_true, y_score, labels, _ROC)
    )


def pr_curve(
    y_true: object, y_score: object, labels: Sequence[object] | None = None
) -> Media:
    """Return precision-recall curves; the arguments are those of `roc_curve`."""
    return ClassifierFigure(y_score, lambda: _read_scores(y_true, y_score, labels, _PR))


def _read_matrix(
    y_true: object, y_pred: object, labels: Sequence[object] | None
) -> tuple[Callable[[], Figure], int]:
    true, predicted = _classes(y_true), _classes(y_pred)
    _check_lengths(y_pred, true, predicted)
    seen = {*true, *predicted}
    shown = _sorted(seen) if labels is None else list(labels)
    if not seen <= {*shown}:
        # Integers are positions among the labels.
        true, predicted = (
            [shown[each] for each in true],
            [shown[each] for each in predicted],
        )
    if not 1 <= len(shown) <= MAX_CLASSES:
        raise UnsupportedValue(y_pred, f"has 1 to {MAX_CLASSES} classes")
    counts = Counter(zip(true, predicted, strict=True))
    return partial(_matrix_figure, counts, shown), len(true)


def _read_scores(
    y_true: object,
    y_score: object,
    labels: Sequence[object] | None,
    kind: Kind,
) -> tuple[Callable[[], Figure], int]:
    true, scores = _listed(y_true), _listed(y_score)
    _check_lengths(y_score, true, scores)
    width = len(scores[0]) if isinstance(scores[0], (list, tuple)) else 1
    if width > MAX_CURVES:
        raise UnsupportedValue(y_score, f"has more than {MAX_CURVES} classes")
    if not all(_are_finite(each) for each in scores):
        raise UnsupportedValue(y_score, "has scores that are not finite")
    classes = [int(each) for each in true]
    names = None if labels is None else [str(label) for label in labels]
    return partial(_curves_figure, classes, scores, names, kind), len(true) * width


# Any: the score of one class, or those of all.
def _are_finite(scores: Any) -> bool:
    if isinstance(scores, (list, tuple)):
        return all(map(isfinite, scores))
    return isfinite(scores)


def _scored(
    classes: list[int], scores: list[Any], names: list[str] | None
) -> Iterable[tuple[str, Scored]]:
    """Yield the name and the scores of each class that has a curve."""
    is_many = isinstance(scores[0], (list, tuple))
    columns = enumerate(zip(*scores, strict=True)) if is_many else [(1, scores)]
    for place, column in columns:
        name = names[place] if names and place < len(names) else f"class {place}"
        positive = [each == place for each in classes]
        yield name, list(zip(positive, map(float, column), strict=True))


# Any, here and below: an array, a tensor, a series or a list.
def _classes(values: Any) -> list[Any]:
    """Return the class of each sample; of scores the highest one."""
    if len(getattr(values, "shape", ())) == _SAMPLES_AND_CLASSES:
        # Much faster than a list of scores.
        values = values.argmax(-1)
    return [
        max(range(len(each)), key=each.__getitem__)
        if isinstance(each, (list, tuple))
        else each
        for each in _listed(values)
    ]


def _listed(values: Any) -> list[Any]:
    if can(values, "detach", "cpu"):
        values = values.detach().cpu()
    if hasattr(values, "shape") or can(values, "tolist"):
        # Any: the elements are plain, or lists of plain ones.
        listed: Any = list_of(values)
        return list(listed)
    return [each.item() if can(each, "item") else each for each in values]


def _check_lengths(value: object, true: list[Any], predicted: list[Any]) -> None:
    if len(true) != len(predicted) or not true:
        raise UnsupportedValue(
            value, f"has {len(predicted):,} predictions for {len(true):,} classes"
        )
    if len(true) > MAX_SAMPLES:
        raise UnsupportedValue(value, f"has more than {MAX_SAMPLES:,} samples")


def _sorted(classes: set[Any]) -> list[Any]:
    try:
        return sorted(classes)
    except TypeError:
        return sorted(classes, key=str)


def _encoded(draw: Callable[[], Figure]) -> bytes:
    return json.dumps(draw()).encode()


# Any: classes are integers or texts.
def _matrix_figure(counts: Counter[Any], classes: list[Any]) -> Figure:
    names = [str(each)[:_LONGEST_LABEL] for each in classes]
    rows = [[counts[true, each] for each in classes] for true in classes]
    totals = [sum(row) for row in rows]
    right = sum(rows[place][place] for place in range(len(classes)))
    shares = [
        [count / total if total else None for count in row]
        for row, total in zip(rows, totals, strict=True)
    ]
    trace: Figure = {
        "type": "heatmap",
        "x": names,
        "y": names,
        "z": shares,
        "zmin": 0,
        "zmax": 1,
        "text": rows,
        "colorscale": _SHADES,
        "showscale": False,
        "hovertemplate": "actual %{y}<br>predicted %{x}<br>%{text} samples, %{z:.1%} of"
        " the class<extra></extra>",
    }
    if len(classes) <= _CELLS_WITH_TEXT:
        trace["texttemplate"] = "%{text}"
    side = max(360, min(1_000, 160 + 34 * len(classes)))
    title = f"Accuracy {right / sum(totals):.1%}, {sum(totals):,} samples"
    return {
        "data": [trace],
        "layout": {
            "title": {"text": title},
            "height": side,
            "margin": {"t": 56, "r": 16},
            "xaxis": {"title": {"text": "Predicted"}, "type": "category"},
            "yaxis": {
                "title": {"text": "Actual"},
                "type": "category",
                "autorange": "reversed",
            },
        },
    }


def _curves_figure(
    classes: list[int], scores: list[Any], names: list[str] | None, kind: Kind
) -> Figure:
    compute, x_title, y_title, area_name = kind
    traces: list[Figure] = []
    for name, scored in _scored(classes, scores, names):
        x, y, area = compute(scored)
        area_text = "undefined" if area is None else f"{area:.3f}"
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{name[:_LONGEST_LABEL]} ({area_name} {area_text})",
                "x": x,
                "y": y,
            }
        )
    if kind is _ROC:
        chance: Figure = {"color": "#8c959f", "dash": "dash"}
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": "chance",
                "x": [0, 1],
                "y": [0, 1],
                "line": chance,
            }
        )
    return {
        "data": traces,
        "layout": {
            "height": 460,
            "margin": {"t": 16, "r": 16},
            "legend": {"orientation": "h", "y": -0.2},
            "xaxis": {"title": {"text": x_title}, "range": [-0.01, 1.01]},
            "yaxis": {"title": {"text": y_title}, "range": [-0.01, 1.01]},
            "showlegend": True,
        },
    }


def _steps(scored: Scored) -> Iterable[tuple[int, int]]:
    """Yield true and false positives at each threshold, from the highest score on."""
    true = false = 0
    ordered = sorted(scored, key=lambda each: -each[1])
    for _, tied in groupby(ordered, key=lambda each: each[1]):
        for is_positive, _ in tied:
            true += is_positive
            false += not is_positive
        yield true, false


def _roc(scored: Scored) -> Curve:
    positives = sum(is_positive for is_positive, _ in scored)
    negatives = len(scored) - positives
    if not (positives and negatives):
        return [], [], None
    x, y = [0.0], [0.0]
    area = 0.0
    for true, false in _steps(scored):
        x.append(false / negatives)
        y.append(true / positives)
        area += (x[-1] - x[-2]) * (y[-1] + y[-2]) / 2
    return *_thinned(x, y), area


def _precision_recall(scored: Scored) -> Curve:
    positives = sum(is_positive for is_positive, _ in scored)
    if not positives:
        return [], [], None
    recall, precision = [0.0], [1.0]
    area = 0.0
    for true, false in _steps(scored):
        recall.append(true / positives)
        precision.append(true / (true + false))
        area += (recall[-1] - recall[-2]) * precision[-1]
    return *_thinned(recall, precision), area


def _thinned(x: list[float], y: list[float]) -> tuple[list[float], list[float]]:
    """Return evenly chosen points of a curve, the first and the last among them."""
    last = len(x) - 1
    if last < MAX_POINTS:
        return x, y
    places = [round(place * last / (MAX_POINTS - 1)) for place in range(MAX_POINTS)]
    return [x[place] for place in places], [y[place] for place in places]


_ROC = (_roc, "False positive rate", "True positive rate", "AUC")
_PR = (_precision_recall, "Recall", "Precision", "AP")
