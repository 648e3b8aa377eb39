from __future__ import annotations

import pytest

from tests.slow.frameworks.requiring import framework

optuna = framework("optuna")

from seamark.frameworks.optuna import SeamarkCallback, trial_run  # noqa: E402


@pytest.fixture(autouse=True)
def _quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def objective(trial):
    x = trial.suggest_float("x", -1, 1)
    trial.suggest_categorical("kind", ["a", "b"])
    if trial.number == 2:
        raise optuna.TrialPruned
    return x**2


def at_steps(tracker, path):
    return dict(zip(tracker.steps(path), tracker.values(path), strict=True))


def test_trials_are_points_and_the_best_one_is_named(tracker, run):
    study = optuna.create_study(study_name="s")
    study.optimize(objective, n_trials=4, callbacks=[SeamarkCallback(run)])
    run.finish()

    facts = tracker.attributes()
    assert tracker.steps("trials/value") == [0, 1, 3]
    assert at_steps(tracker, "trials/is_pruned") == {0: 0, 1: 0, 2: 1, 3: 0}
    assert at_steps(tracker, "trials/params/x") == {
        trial.number: trial.params["x"] for trial in study.trials
    }
    assert len(tracker.values("trials/seconds")) == 4
    assert facts["study/best/value"] == study.best_value
    assert facts["study/best/params/kind"] == study.best_params["kind"]
    assert facts["study/name"] == "s"


def test_several_objectives_have_a_series_each(tracker, run):
    study = optuna.create_study(directions=["minimize", "maximize"])
    study.set_metric_names(["loss", "speed"])
    study.optimize(
        lambda trial: (trial.suggest_float("x", 0, 1), 2.0),
        n_trials=2,
        callbacks=[SeamarkCallback(run)],
    )
    run.finish()

    assert tracker.values("trials/value/speed") == [2, 2]


def test_failed_trials_are_logged_without_a_value(tracker, run):
    def fail(trial):
        raise ZeroDivisionError

    study = optuna.create_study()
    study.optimize(
        fail, n_trials=1, catch=[ZeroDivisionError], callbacks=[SeamarkCallback(run)]
    )
    run.finish()

    assert tracker.values("trials/is_complete") == [0]
    assert tracker.values("trials/value") == []


def test_trials_in_threads_are_all_logged(tracker, run):
    study = optuna.create_study()
    study.optimize(
        lambda trial: trial.suggest_float("x", 0, 1),
        n_trials=8,
        n_jobs=2,
        callbacks=[SeamarkCallback(run)],
    )
    run.finish()

    assert sorted(tracker.steps("trials/value")) == list(range(8))


def test_a_trial_may_have_a_run_of_its_own(tracker):
    def train(trial):
        with trial_run(trial, project="p", monitor=False) as run:
            value = objective(trial)
            run["train/loss"].append(value)
            return value

    study = optuna.create_study(study_name="s")
    study.optimize(train, n_trials=3)

    opened = [message["run"] for message in tracker.of_kind("open")]
    states = tracker.states()
    name = opened[0].removesuffix("-0")
    assert name.startswith("s-")
    assert opened == [f"{name}-0", f"{name}-1", f"{name}-2"]
    # A pruned trial is not a failure.
    assert states == ["finished"] * 3
    assert study.trials[2].state == optuna.trial.TrialState.PRUNED
    assert "params/kind" in tracker.attributes()


def test_a_trial_without_a_study_may_have_a_run_too(tracker):
    study = optuna.create_study(study_name="s")
    study.optimize(objective, n_trials=1)
    fixed = optuna.trial.FixedTrial({"x": 0.5, "kind": "a"}, number=7)
    for trial in study.best_trial, fixed:
        with trial_run(trial, project="p", monitor=False):
            objective(trial)

    facts = tracker.attributes()
    opened = [message["run"] for message in tracker.of_kind("open")]
    # Other studies have trials of the same number.
    assert len(set(opened)) == 2
    assert facts["study/trial"] == 7
    assert facts["params/x"] == 0.5
    assert "study/name" not in facts


def runs_of(tracker, **of_study):
    study = optuna.create_study(study_name="s", **of_study)
    with trial_run(study.ask(), project="p", monitor=False):
        pass
    return [message["run"] for message in tracker.of_kind("open")]


def test_a_study_in_memory_that_begins_anew_joins_no_runs_of_an_earlier_one(tracker):
    runs_of(tracker)
    first, second = runs_of(tracker)

    assert first != second


def test_a_study_that_is_stored_goes_on_in_runs_of_its_name(tracker, tmp_path):
    stored = f"sqlite:///{tmp_path / 'studies.db'}"
    runs_of(tracker, storage=stored)
    opened = runs_of(tracker, storage=stored, load_if_exists=True)

    assert opened == ["s-0", "s-1"]


def test_the_best_trial_has_no_choices_of_an_earlier_one(tracker, run):
    def choose(trial):
        kind = trial.suggest_categorical("kind", ["forest", "line"])
        if kind == "forest":
            return 1 + trial.suggest_int("depth", 1, 5)
        return trial.suggest_float("slope", 0, 1)

    study = optuna.create_study()
    study.enqueue_trial({"kind": "forest", "depth": 3})
    study.enqueue_trial({"kind": "line", "slope": 0.5})
    study.optimize(choose, n_trials=2, callbacks=[SeamarkCallback(run)])
    run.finish()

    best = "study/best/params"
    facts = tracker.attributes()
    assert facts[f"{best}/kind"] == "line"
    assert facts[f"{best}/slope"] == 0.5
    assert facts[f"{best}/depth"] is None
