from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.slow.frameworks.requiring import framework

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
        from seamark.frameworks.xgboost import SeamarkCallback

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

    def until_it_stops(self, digits, **by):
        """Train against labels that are all wrong, so that each round is worse."""
        self.xgboost.train(
            {"objective": "binary:logistic"},
            self.xgboost.DMatrix(*digits),
            num_boost_round=50,
            evals=[(self.xgboost.DMatrix(digits[0], 1 - digits[1]), "other")],
            verbose_eval=False,
            **by,
        )

    def test_early_stopping_names_the_best_round(self, tracker, run, digits):
        ours = self.callback(run)
        self.until_it_stops(digits, early_stopping_rounds=2, callbacks=[ours])
        run.finish()

        assert tracker.attributes()["best/iteration"] == 0

    def test_the_last_round_is_logged_behind_whoever_stops_the_training(
        self, tracker, run, digits
    ):
        stopping = self.xgboost.callback.EarlyStopping(rounds=2)
        self.until_it_stops(digits, callbacks=[stopping, self.callback(run)])
        run.finish()

        assert tracker.steps("other/logloss") == [0, 1, 2]

    def test_a_round_that_never_was_is_not_logged(self, tracker, run, digits):
        class Stopping(self.xgboost.callback.TrainingCallback):
            def before_iteration(self, model, epoch, evals_log):
                return epoch == 2

        data = self.xgboost.DMatrix(*digits)
        self.xgboost.train(
            {"objective": "binary:logistic"},
            data,
            num_boost_round=5,
            evals=[(data, "train")],
            callbacks=[self.callback(run), Stopping()],
            verbose_eval=False,
        )
        run.finish()

        assert tracker.steps("train/logloss") == [0, 1]

    def test_a_fitted_estimator_can_be_copied(self, tracker, run, digits):
        sklearn = framework("sklearn.base")
        callback = self.callback(run)
        model = self.xgboost.XGBClassifier(n_estimators=3, callbacks=[callback])
        model.fit(*digits, eval_set=[digits], verbose=False)

        copies = [
            pickle.loads(pickle.dumps(model)),
            copy.deepcopy(model),
            sklearn.clone(model),
        ]
        for other in copies:
            other.fit(*digits, eval_set=[digits], verbose=False)
        run.finish()

        assert tracker.steps("validation_0/logloss") == [0, 1, 2] * 4

    def test_a_callback_can_be_copied_when_training_has_failed(self, run, digits):
        class Failing(self.xgboost.callback.TrainingCallback):
            def after_iteration(self, model, epoch, evals_log):
                raise ZeroDivisionError

        callback = self.callback(run)
        with pytest.raises(ZeroDivisionError):
            self.xgboost.train(
                {"objective": "binary:logistic"},
                self.xgboost.DMatrix(*digits),
                callbacks=[callback, Failing()],
            )

        assert copy.deepcopy(callback)._run is run

    def test_of_processes_that_train_together_the_first_one_logs(
        self, tracker, run, digits
    ):
        together = framework("xgboost.tracker").RabitTracker(
            n_workers=2, host_ip="127.0.0.1"
        )
        together.start()
        features, labels = digits

        def train(worker):
            # A thread counts as a process here.
            with self.xgboost.collective.CommunicatorContext(
                **together.worker_args(), dmlc_task_id=str(worker)
            ):
                rows = slice(worker, None, 2)
                data = self.xgboost.DMatrix(features[rows], labels[rows])
                self.xgboost.train(
                    {"objective": "binary:logistic", "nthread": 1},
                    data,
                    num_boost_round=3,
                    evals=[(data, "train")],
                    callbacks=[self.callback(run)],
                    verbose_eval=False,
                )

        with ThreadPoolExecutor(2) as workers:
            list(workers.map(train, range(2)))
        run.finish()

        assert tracker.steps("train/logloss") == [0, 1, 2]
        assert len(tracker.values(f"{STEP}/seconds")) == 3
        objectives = [m for m in tracker.of_kind("set") if "objective" in m["path"]]
        assert len(objectives) == 1

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
        from seamark.frameworks.lightgbm import SeamarkCallback

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

    def test_a_callback_that_has_trained_can_be_copied(self, tracker, run, digits):
        callback = self.callback(run)
        for each in callback, None:
            data = self.lightgbm.Dataset(*digits)
            self.lightgbm.train(
                {"objective": "binary", "verbose": -1},
                data,
                num_boost_round=2,
                valid_sets=[data],
                valid_names=["train"],
                callbacks=[each or pickle.loads(pickle.dumps(callback))],
            )
        run.finish()

        assert tracker.steps("train/binary_logloss") == [0, 1, 0, 1]

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
