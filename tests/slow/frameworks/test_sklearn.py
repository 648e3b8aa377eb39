"""The functions for scikit-learn, with real searches and estimators."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest

import agent
from tests.slow.frameworks.requiring import framework

framework("sklearn")

from sklearn.cluster import KMeans  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.ensemble import RandomForestRegressor  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from seamark.frameworks.sklearn import (  # noqa: E402
    log_cross_validation,
    log_estimator,
    log_search,
)

GRID = {"C": [0.01, 1.0, 10.0], "kernel": ["linear", "rbf"]}


@pytest.fixture(scope="module")
def flowers():
    return load_iris(return_X_y=True)


def opened(tracker):
    return {m["run"]: m.get("parent") for m in tracker.of_kind("open")}


def figures(tracker):
    return {m["path"]: m["type"] for m in tracker.of_kind("file")}


def content(tracker, path):
    (message,) = [m for m in tracker.of_kind("file") if m["path"] == path]
    return json.loads(tracker.stored[message["digest"]])


class TestSearch:
    def test_each_candidate_is_a_child_run(self, tracker, run, flowers):
        search = GridSearchCV(SVC(), GRID, cv=3).fit(*flowers)
        log_search(search, run)
        run.finish()

        names = [f"r-trial-{number}" for number in range(6)]
        assert opened(tracker) == {"r": None, **dict.fromkeys(names, "r")}
        assert set(tracker.states()) == {"finished"}
        folds = [search.cv_results_[f"split{n}_test_score"][0] for n in range(3)]
        assert tracker.values("folds/test_score")[:3] == pytest.approx(folds)
        assert tracker.steps("folds/test_score")[:3] == [0, 1, 2]

    def test_the_search_has_a_point_per_candidate_and_names_the_best(
        self, tracker, run, flowers
    ):
        search = GridSearchCV(SVC(), GRID, cv=3, return_train_score=True).fit(*flowers)
        log_search(search, run)
        run.finish()

        facts = tracker.attributes()
        means = search.cv_results_["mean_test_score"]
        assert tracker.steps("search/mean_test_score") == [0, 1, 2, 3, 4, 5]
        assert tracker.values("search/mean_test_score") == pytest.approx(means)
        assert tracker.values("search/params/C") == [0.01, 0.01, 1, 1, 10, 10]
        assert facts["search/best/candidate"] == search.best_index_
        tags = [set(m["add"]) for m in tracker.of_kind("tags")]
        assert sorted(tags, key=len) == [{"trial"}] * 5 + [{"trial", "best"}]
        assert facts["search/best/score"] == pytest.approx(search.best_score_)
        assert facts["search/best/params/kernel"] == search.best_params_["kernel"]
        assert facts["params/folds"] == 3
        assert "search/candidates" in figures(tracker)

    def test_only_the_best_candidates_have_a_run(self, tracker, run, flowers):
        search = GridSearchCV(SVC(), GRID, cv=3).fit(*flowers)
        log_search(search, run, max_children=2)
        run.finish()

        ranks = search.cv_results_["rank_test_score"]
        children = [int(name[-1]) for name, parent in opened(tracker).items() if parent]
        assert len(children) == 2
        assert search.best_index_ in children
        assert max(ranks[children]) <= sorted(ranks)[1]
        assert len(tracker.values("search/mean_test_score")) == 6

    def test_several_metrics_are_logged_by_name(self, tracker, run, flowers):
        search = RandomizedSearchCV(
            SVC(),
            {"C": np.array([0.1, 1.0, 10.0])},
            n_iter=2,
            cv=2,
            scoring=["accuracy", "f1_macro"],
            refit=False,
            random_state=0,
        ).fit(*flowers)
        log_search(search, run, namespace="coarse")
        run.finish()

        assert len(tracker.values("coarse/mean_test_f1_macro")) == 2
        assert set(opened(tracker)) == {"r", "r-coarse-trial-0", "r-coarse-trial-1"}
        # Without a refit there is no best candidate.
        assert not [path for path in tracker.attributes() if "/best/" in path]

    def test_a_search_that_is_not_fitted_is_a_warning(self, run, caplog):
        with caplog.at_level(logging.WARNING):
            log_search(GridSearchCV(SVC(), GRID), run)

        assert "log_search failed" in caplog.text


class TestCrossValidation:
    def test_folds_are_series_with_a_mean(self, tracker, run, flowers):
        model = SVC(C=2.0)
        results = cross_validate(model, *flowers, cv=3, return_estimator=True)
        log_cross_validation(results, run, estimator=model)
        run.finish()

        scores = results["test_score"]
        facts = tracker.attributes()
        assert tracker.values("folds/test_score") == pytest.approx(scores)
        assert facts["cv/mean_test_score"] == pytest.approx(scores.mean())
        assert facts["cv/std_test_score"] == pytest.approx(scores.std())
        assert facts["params/C"] == 2.0

    def test_scores_alone_are_enough(self, tracker, run, flowers):
        log_cross_validation(cross_val_score(SVC(), *flowers, cv=4), run)
        run.finish()

        assert tracker.steps("folds/test_score") == [0, 1, 2, 3]


class TestEstimator:
    def test_a_classifier_has_scores_and_figures(self, tracker, run, flowers):
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(*flowers)
        log_estimator(model, *flowers, run, labels=["setosa", "versicolor", "other"])
        run.finish()

        facts = tracker.attributes()
        assert facts["eval/accuracy"] == pytest.approx(model.score(*flowers))
        assert facts["eval/roc_auc"] > 0.9
        assert facts["params/estimator"] == "Pipeline"
        assert facts["params/logisticregression__C"] == 1.0
        assert "params/steps" not in facts
        assert set(figures(tracker)) == {
            "eval/confusion_matrix",
            "eval/feature_importance",
            "eval/pr_curve",
            "eval/roc_curve",
        }
        (matrix,) = content(tracker, "eval/confusion_matrix")["data"]
        assert matrix["x"] == ["setosa", "versicolor", "other"]

    def test_two_classes_have_one_curve(self, tracker, run, flowers):
        features, classes = flowers
        model = SVC().fit(features, classes > 0)
        log_estimator(model, features, classes > 0, run)
        run.finish()

        (curve,) = content(tracker, "eval/pr_curve")["data"]
        assert curve["name"].startswith("True")
        assert tracker.attributes()["eval/roc_auc"] > 0.9

    def test_a_class_of_the_test_data_only_is_shown(self, tracker, run, flowers):
        features, classes = flowers
        model = SVC().fit(features[:100], classes[:100])
        log_estimator(model, features, classes, run)
        run.finish()

        (matrix,) = content(tracker, "eval/confusion_matrix")["data"]
        assert matrix["y"] == ["0", "1", "2"]
        assert sum(matrix["text"][2]) == 50

    def test_a_regressor_has_errors_and_predictions(self, tracker, run, flowers):
        features, targets = flowers[0][:, :3], flowers[0][:, 3]
        model = RandomForestRegressor(5, random_state=0).fit(features, targets)
        log_estimator(model, features, targets, run, namespace="test")
        run.finish()

        facts = tracker.attributes()
        assert facts["test/r2"] == pytest.approx(model.score(features, targets))
        assert facts["test/mean_absolute_error"] < 1
        assert [m["path"] for m in tracker.of_kind("records")] == ["test/residuals"]
        samples, _ = content(tracker, "test/predictions")["data"]
        assert samples["x"] == pytest.approx(targets)
        (bars,) = content(tracker, "test/feature_importance")["data"]
        assert bars["x"] == sorted(model.feature_importances_, reverse=True)

    def test_several_targets_have_a_score_only(self, tracker, run, flowers):
        features, targets = flowers[0][:, :2], flowers[0][:, 2:]
        log_estimator(
            RandomForestRegressor(5).fit(features, targets), features, targets, run
        )
        run.finish()

        assert tracker.attributes()["eval/score"] > 0.5
        assert set(figures(tracker)) == {"eval/feature_importance"}

    def test_another_kind_of_estimator_has_a_score_only(self, tracker, run, flowers):
        model = KMeans(2, n_init=1).fit(flowers[0])
        log_estimator(model, *flowers, run)
        run.finish()

        assert "eval/score" in tracker.attributes()
        assert figures(tracker) == {}

    def test_wrong_data_is_a_warning(self, run, caplog):
        with caplog.at_level(logging.WARNING):
            log_estimator(SVC(), [[1.0]], [1], run)

        assert "log_estimator failed" in caplog.text


def test_a_run_is_opened_if_none_is(tracker, flowers):
    log_estimator(SVC().fit(*flowers), *flowers, "svc")
    agent.init("svc").finish()

    assert set(opened(tracker)) == {"svc"}
