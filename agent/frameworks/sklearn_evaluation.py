"""Scores and figures of fitted scikit-learn estimators, by their path."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sklearn import metrics
from sklearn.base import is_classifier, is_regressor

from seamark.recording.file_contents import PLOTLY, File
from seamark.recording.media.curves import confusion_matrix, pr_curve, roc_curve
from seamark.recording.media.histogram import Histogram

_MAX_FEATURES = 30  # in the figure
_MAX_PREDICTIONS = 2_000  # in the figure
_LONGEST_NAME = 60
_NO_CLASS = -1
_GREY = "#8c959f"

# Any, in this module: arrays, data frames and lists, and estimators of other packages.
Found = Iterator[tuple[str, Any]]


def evaluate(
    estimator: Any, x: Any, y: Any, *, labels: Sequence[object] | None = None
) -> Found:
    """Yield scores and figures of an estimator on the given data."""
    targets = _listed(y)
    is_flat = not (targets and isinstance(targets[0], (list, tuple)))
    if is_flat and is_classifier(estimator):
        yield from _classified(estimator, x, targets, labels)
    elif is_flat and is_regressor(estimator):
        yield from _regressed(estimator, x, targets)
    else:
        # Several targets, or a kind of estimator without figures.
        yield "score", float(estimator.score(x, y))
    yield from _importance(estimator)


def _classified(
    estimator: Any, x: Any, targets: list[Any], labels: Sequence[object] | None
) -> Found:
    classes = _listed(estimator.classes_)
    names = [str(each) for each in (classes if labels is None else labels)]
    if len(names) != len(classes):
        raise ValueError(f"{len(names)} labels for {len(classes)} classes")
    index = {each: place for place, each in enumerate(classes)}
    predicted = _listed(estimator.predict(x))
    yield "accuracy", float(metrics.accuracy_score(targets, predicted))
    for name, score in _CLASS_SCORES.items():
        with contextlib.suppress(ValueError):
            yield name, float(score(targets, predicted))
    # Targets may have classes that the estimator does not.
    named = dict(zip(classes, names, strict=True))
    unknown = sorted({str(each) for each in targets if each not in index})
    yield (
        "confusion_matrix",
        confusion_matrix(
            [named.get(each, str(each)) for each in targets],
            [named.get(each, str(each)) for each in predicted],
            labels=[*names, *(each for each in unknown if each not in names)],
        ),
    )
    scores = _class_scores(estimator, x, len(classes))
    if scores is not None:
        true = [index.get(each, _NO_CLASS) for each in targets]
        yield "roc_curve", roc_curve(true, scores, labels=names)
        yield "pr_curve", pr_curve(true, scores, labels=names)
        with contextlib.suppress(ValueError):
            area = metrics.roc_auc_score(true, scores, multi_class="ovr")
            yield "roc_auc", float(area)


def _macro(score: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda true, predicted: score(
        true, predicted, average="macro", zero_division=0
    )


_CLASS_SCORES: dict[str, Callable[[Any, Any], Any]] = {
    "precision_macro": _macro(metrics.precision_score),
    "recall_macro": _macro(metrics.recall_score),
    "f1_macro": _macro(metrics.f1_score),
}


def _class_scores(estimator: Any, x: Any, classes: int) -> Any:
    """Return scores of class 1, or of each class; None if there are none."""
    for name in ("predict_proba", "decision_function"):
        # Some estimators have the method only with some options.
        read = getattr(estimator, name, None)
        if read is None:
            continue
        scores = read(x)
        width = scores.shape[1] if len(scores.shape) > 1 else 1
        if classes == 2:  # noqa: PLR2004 - one curve shows both
            return scores[:, 1] if width > 1 else scores
        # SVC compares pairs of classes with decision_function_shape="ovo".
        return scores if width == classes else None
    return None


def _regressed(estimator: Any, x: Any, targets: list[Any]) -> Found:
    predicted = _listed(estimator.predict(x))
    yield "r2", float(metrics.r2_score(targets, predicted))
    yield (
        "mean_absolute_error",
        float(metrics.mean_absolute_error(targets, predicted)),
    )
    squared = float(metrics.mean_squared_error(targets, predicted))
    yield "root_mean_squared_error", squared**0.5
    pairs = zip(targets, predicted, strict=True)
    residuals = [float(value) - float(target) for target, value in pairs]
    yield "residuals", Histogram(residuals)
    yield "predictions", _figure(_prediction_figure(targets, predicted))


def _importance(estimator: Any) -> Found:
    final, features = _final(estimator)
    values = getattr(final, "feature_importances_", None)
    title = "Importance"
    if values is None:
        values = getattr(final, "coef_", None)
        title = "Mean absolute coefficient"
    if values is None or not hasattr(values, "tolist"):
        return
    if len(values.shape) > 1:
        # One row per class or target.
        values = abs(values).mean(axis=0)
    sizes = [abs(float(value)) for value in _listed(values)]
    names = _feature_names(final, features, len(sizes))
    yield "feature_importance", _figure(_importance_figure(names, sizes, title))


def _final(estimator: Any) -> tuple[Any, Any]:
    """Return the last step of a pipeline, and the names of the features it receives."""
    steps = getattr(estimator, "steps", None)
    if steps is None:
        return estimator, None
    features = None
    if len(steps) > 1:
        # Some transformers do not name their output.
        with contextlib.suppress(Exception):
            features = _listed(estimator[:-1].get_feature_names_out())
    return steps[-1][1], features


def _feature_names(final: Any, features: Any, count: int) -> list[str]:
    if features is None:
        features = getattr(final, "feature_names_in_", None)
    if features is None or len(features) != count:
        return [f"feature {place}" for place in range(count)]
    return [str(name)[:_LONGEST_NAME] for name in features]


def _importance_figure(
    names: Sequence[str], sizes: Sequence[float], title: str
) -> dict[str, object]:
    largest = sorted(zip(sizes, names, strict=True), reverse=True)[:_MAX_FEATURES]
    cut = f" (top {len(largest)} of {len(sizes)})" if len(sizes) > len(largest) else ""
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "x": [size for size, _ in largest],
                "y": [name for _, name in largest],
                "hovertemplate": "%{y}: %{x:.4g}<extra></extra>",
            }
        ],
        "layout": {
            "height": max(240, 80 + 20 * len(largest)),
            "margin": {"t": 16, "r": 16},
            "xaxis": {"title": {"text": title + cut}},
            "yaxis": {"type": "category", "autorange": "reversed", "automargin": True},
        },
    }


def _prediction_figure(
    targets: Sequence[Any], predicted: Sequence[Any]
) -> dict[str, object]:
    # Evenly chosen samples of many.
    stride = -(-len(targets) // _MAX_PREDICTIONS)
    x = [float(value) for value in targets[::stride]]
    y = [float(value) for value in predicted[::stride]]
    ends = [min(x), max(x)]
    return {
        "data": [
            {"type": "scatter", "mode": "markers", "name": "samples", "x": x, "y": y},
            {
                "type": "scatter",
                "mode": "lines",
                "name": "exact",
                "x": ends,
                "y": ends,
                "line": {"color": _GREY, "dash": "dash"},
            },
        ],
        "layout": {
            "height": 460,
            "margin": {"t": 16, "r": 16},
            "legend": {"orientation": "h", "y": -0.2},
            "xaxis": {"title": {"text": "Target"}},
            "yaxis": {"title": {"text": "Prediction"}},
        },
    }


def _figure(figure: dict[str, object]) -> File:
    return File(json.dumps(figure).encode(), media_type=PLOTLY)


def _listed(values: Any) -> list[Any]:
    listed: Any = values.tolist() if hasattr(values, "tolist") else list(values)
    # Columns of shape (samples, 1) count as flat.
    if listed and all(isinstance(each, list) and len(each) == 1 for each in listed):
        return [each[0] for each in listed]
    return list(listed)
