from __future__ import annotations

import numpy as np
import pytest

from tests.frameworks.requiring import framework

STEP = "monitoring/train/step"


@pytest.fixture
def digits():
    random = np.random.default_rng(0)
    features = random.normal(size=(100, 4))
    return features, (features[:, 0] > 0).astype(int)


class TestXgboost:
    @pytest.fixture(autouse=True)
    def _library(self):
        self.xgboost = framework("xgboost")

    def callback(self, run):
        from agent.frameworks.xgboost import SeamarkCallback

        return SeamarkCallback(run)

    def test_rounds_are_logged_and_timed(self, tracker, run, digits):
        data = self.xgboost.DMatrix(*digits)
        self.xgboost.train(
            {"objective": "binary:logistic", "max_depth": 2},
            data,
            num_boost_round=5,
            evals=[(data, "train")],
            callbacks=[self.callback(run)],
            verbose_eval=False,
        )
        run.finish()

        assert tracker.steps("train/logloss") == [0, 1, 2, 3, 4]
        assert len(tracker.values(f"{STEP}/seconds")) == 5
        # All data is there from the beginning: a wait is unknown, not 0.
        assert tracker.values(f"{STEP}/data_wait_seconds") == []
        assert tracker.attributes()["params/objective"] == "binary:logistic"

    def test_early_stopping_names_the_best_round(self, tracker, run, digits):
        data = self.xgboost.DMatrix(*digits)
        self.xgboost.train(
            {"objective": "binary:logistic"},
            data,
            num_boost_round=50,
            evals=[(self.xgboost.DMatrix(digits[0], 1 - digits[1]), "other")],
            early_stopping_rounds=2,
            callbacks=[self.callback(run)],
            verbose_eval=False,
        )
        run.finish()

        assert tracker.attributes()["best/iteration"] == 0

    def test_cross_validation_has_a_deviation(self, tracker, run, digits):
        self.xgboost.cv(
            {"objective": "binary:logistic"},
            self.xgboost.DMatrix(*digits),
            num_boost_round=3,
            callbacks=[self.callback(run)],
        )
        run.finish()

        assert len(tracker.values("test/logloss")) == 3
        assert len(tracker.values("test/logloss_deviation")) == 3


class TestLightgbm:
    @pytest.fixture(autouse=True)
    def _library(self):
        self.lightgbm = framework("lightgbm")

    def callback(self, run):
        from agent.frameworks.lightgbm import SeamarkCallback

        return SeamarkCallback(run)

    def test_rounds_are_logged_and_timed(self, tracker, run, digits):
        data = self.lightgbm.Dataset(*digits)
        self.lightgbm.train(
            {"objective": "binary", "verbose": -1, "num_leaves": 4},
            data,
            num_boost_round=5,
            valid_sets=[data],
            valid_names=["train"],
            callbacks=[self.callback(run)],
        )
        run.finish()

        assert tracker.steps("train/binary_logloss") == [0, 1, 2, 3, 4]
        assert len(tracker.values(f"{STEP}/seconds")) == 4
        assert tracker.attributes()["params/booster/num_leaves"] == 4

    def test_loops_behind_an_early_stop_are_timed(self, tracker, run, digits):
        features, labels = digits
        self.lightgbm.train(
            {"objective": "binary", "verbose": -1},
            self.lightgbm.Dataset(features, labels),
            num_boost_round=50,
            valid_sets=[self.lightgbm.Dataset(features, 1 - labels)],
            callbacks=[
                self.callback(run),
                self.lightgbm.early_stopping(2, verbose=False),
            ],
        )
        rounds = run.steps._steps
        list(run.loader([1, 2, 3]))
        run.finish()

        assert len(tracker.values(f"{STEP}/seconds")) == rounds + 3

    def test_cross_validation_has_a_deviation(self, tracker, run, digits):
        self.lightgbm.cv(
            {"objective": "binary", "verbose": -1},
            self.lightgbm.Dataset(*digits),
            num_boost_round=3,
            callbacks=[self.callback(run)],
        )
        run.finish()

        assert len(tracker.values("valid/binary_logloss_deviation")) == 3
