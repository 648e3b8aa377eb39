"""scikit-learn: searches as nested runs, cross-validation, and fitted estimators.

    from seamark.frameworks.sklearn import log_estimator, log_search

    search = GridSearchCV(estimator, grid).fit(x_train, y_train)
    log_search(search, run)
    log_estimator(search.best_estimator_, x_test, y_test, run)

All functions read results after `fit`, so that `n_jobs`, pipelines and copies of
estimators work as before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from seamark.frameworks.guarded import guarded
from seamark.frameworks.plain_values import plain_value
from seamark.frameworks.runs import run_for
from seamark.frameworks.sklearn_evaluation import evaluate
from seamark.recording.media.histogram import Histogram
from seamark.recording.media.tables import Table
from seamark.run import Run

_SEARCH = "search"
# The table has the others.
_DRAWN = ("mean_test_", "std_test_", "mean_train_", "mean_fit_time")
_MEASURED = ("mean_", "std_", "rank_")
# Arrays of a cross-validation that are not one number per fold.
_NOT_NUMBERS = ("estimator", "indices")


@guarded
def log_search(
    search: Any,
    run: Run | str | None = None,
    *,
    namespace: str = _SEARCH,
    max_children: int = 50,
) -> None:
    """Log a fitted search: each candidate as a child run and as a point of series.

    A child has the candidate's parameters, its mean scores below `cv/`, the score of
    each fold as the series `folds/…`, and the tag `trial`; the best one also has the
    tag `best`.

    Args:
        search: A fitted `GridSearchCV`, `RandomizedSearchCV` or halving search.
        run: The run to log to, or its name; by default the open run.
        namespace: The path prefix of the candidates' series and of the best one; part of
            the children's names.
        max_children: The number of candidates with a child run, from the best one on.
    """
    parent = run_for(run)
    results: Mapping[str, Sequence[Any]] = search.cv_results_
    best = getattr(search, "best_index_", None)
    parent["params"] = _search_params(search)
    _log_series(parent, results, namespace)
    parent[f"{namespace}/candidates"] = _table(results)
    if best is not None:
        parent[f"{namespace}/best"] = _best(search, results, int(best))
    prefix = parent.name if namespace == _SEARCH else f"{parent.name}-{namespace}"
    for number in _chosen(results, best, max_children):
        with parent.child(f"{prefix}-trial-{number}") as child:
            child.add_tags(["trial", "best"] if number == best else ["trial"])
            _log_candidate(child, results, number)


@guarded
def log_cross_validation(
    results: Mapping[str, Any],
    run: Run | str | None = None,
    *,
    estimator: Any = None,
) -> None:
    """Log the results of `cross_validate`: folds as series, and their mean.

    Args:
        results: The returned dictionary, or the array of `cross_val_score`.
        run: The run to log to, or its name; by default the open run.
        estimator: The estimator, to log its parameters.
    """
    chosen = run_for(run)
    if not isinstance(results, Mapping):
        results = {"test_score": results}
    if estimator is not None:
        chosen["params"] = estimator_params(estimator)
    folds = {
        name: [float(value) for value in values]
        for name, values in results.items()
        if name not in _NOT_NUMBERS
    }
    _log_folds(chosen, folds)
    for name, values in folds.items():
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / len(values)
        chosen[f"cv/mean_{name}"] = mean
        chosen[f"cv/std_{name}"] = variance**0.5


@guarded
def log_estimator(
    estimator: Any,
    x: Any,
    y: Any,
    run: Run | str | None = None,
    *,
    namespace: str = "eval",
    labels: Sequence[object] | None = None,
) -> None:
    """Log parameters and scores of a fitted estimator on the given data, with figures.

    A classifier has a confusion matrix, ROC and precision-recall curves; a regressor has
    predictions over targets; both have the importance of features, if known.

    Args:
        estimator: A fitted classifier, regressor, or pipeline that ends with one.
        x: The features of the data to score, usually a test set.
        y: The targets of that data.
        run: The run to log to, or its name; by default the open run.
        namespace: The path prefix of scores and figures.
        labels: The names of the classes, in the order of `estimator.classes_`.
    """
    chosen = run_for(run)
    chosen["params"] = estimator_params(estimator)
    for name, value in evaluate(estimator, x, y, labels=labels):
        path = f"{namespace}/{name}"
        if isinstance(value, Histogram):
            # Histograms exist in series only.
            chosen[path].append(value)
        else:
            chosen[path] = value


def estimator_params(estimator: Any) -> dict[str, object]:
    """Return an estimator's class and parameters, those of other objects as text."""
    params = estimator.get_params(deep=True)
    # The steps of a pipeline follow as separate parameters.
    plain = {n: plain_value(v) for n, v in params.items() if not _is_nested(v)}
    return {"estimator": type(estimator).__name__, **plain}


def _search_params(search: Any) -> dict[str, object]:
    grid = getattr(search, "param_grid", None)
    if grid is None:
        grid = getattr(search, "param_distributions", None)
    params: dict[str, object] = {
        "search": type(search).__name__,
        "folds": getattr(search, "n_splits_", None),
        "scoring": plain_value(getattr(search, "scoring", None)),
        "refit": plain_value(getattr(search, "refit", None)),
        # One grid or a list of them; distributions have a text only.
        "candidates": {n: plain_value(v) for n, v in grid.items()}
        if isinstance(grid, Mapping)
        else plain_value(grid),
    }
    fixed = estimator_params(search.estimator)
    return {n: v for n, v in params.items() if v is not None} | fixed


def _log_series(run: Run, results: Mapping[str, Any], namespace: str) -> None:
    measured = [name for name in results if name.startswith(_DRAWN)]
    for number, params in enumerate(results["params"]):
        points = {name: results[name][number] for name in measured}
        numeric = {n: v for n, v in params.items() if _is_number(v)}
        points |= {f"params/{name}": value for name, value in numeric.items()}
        named = {f"{namespace}/{name}": float(v) for name, v in points.items()}
        run.log(named, step=number)


def _table(results: Mapping[str, Any]) -> Table:
    measured = [name for name in results if name.startswith(_MEASURED)]
    varied = list(dict.fromkeys(n for params in results["params"] for n in params))
    rows = [
        [
            number,
            *(plain_value(params.get(name)) for name in varied),
            *(plain_value(results[name][number]) for name in measured),
        ]
        for number, params in enumerate(results["params"])
    ]
    return Table(rows, columns=["candidate", *varied, *measured])


def _best(search: Any, results: Mapping[str, Any], best: int) -> dict[str, object]:
    refit = getattr(search, "refit", None)
    metric = refit if isinstance(refit, str) and search.multimetric_ else "score"
    means = results.get(f"mean_test_{metric}")
    values: dict[str, object] = {
        "candidate": best,
        "score": None if means is None else float(means[best]),
        "params": {n: plain_value(v) for n, v in results["params"][best].items()},
    }
    return {name: value for name, value in values.items() if value is not None}


def _chosen(
    results: Mapping[str, Any], best: int | None, max_children: int
) -> list[int]:
    """Return the numbers of the candidates that have a run, the best ones."""
    ranks = [name for name in results if name.startswith("rank_test_")]
    numbers = list(range(len(results["params"])))
    by_rank = sorted(
        numbers,
        key=lambda each: (each != best, *(int(results[name][each]) for name in ranks)),
    )
    return sorted(by_rank[: max(0, max_children)])


def _log_candidate(child: Run, results: Mapping[str, Any], number: int) -> None:
    child["params"] = {n: plain_value(v) for n, v in results["params"][number].items()}
    child["cv/candidate"] = number
    for name, values in results.items():
        if name.startswith(_MEASURED):
            child[f"cv/{name}"] = float(values[number])
    folds: dict[str, list[float]] = {}
    # In the order of the folds: split0_test_score, split1_test_score, …
    for name, values in results.items():
        split, _, score = name.partition("_")
        if split.startswith("split") and split.removeprefix("split").isdigit():
            folds.setdefault(score, []).append(float(values[number]))
    _log_folds(child, folds)


def _log_folds(run: Run, folds: Mapping[str, Sequence[float]]) -> None:
    for name, values in folds.items():
        for fold, value in enumerate(values):
            run[f"folds/{name}"].append(value, step=fold)


# Any, here and below: parameters have any type.
def _is_number(value: Any) -> bool:
    return isinstance(value, Real)


def _is_nested(value: Any) -> bool:
    """Return whether the value is an estimator, or holds some, as a pipeline's steps."""
    if not isinstance(value, (list, tuple)):
        return hasattr(value, "get_params") and not isinstance(value, type)
    return any(_is_nested(each) for each in value)
