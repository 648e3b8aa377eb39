"""The Keras callback with the PyTorch and JAX backends.

Keras selects one backend on import, so the other needs its own process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from tests.slow.frameworks.requiring import framework

torch = framework("torch")
os.environ.setdefault("KERAS_BACKEND", "torch")
keras = framework("keras")

from seamark.frameworks.keras import SeamarkCallback  # noqa: E402
from seamark.lifecycle import process_hooks  # noqa: E402

STEP = "monitoring/train/step"
FACTS = "monitoring/train/facts"

BACKEND = keras.backend.backend()
OTHER_BACKEND = "jax"
FRAMEWORKS = {"torch": "pytorch", OTHER_BACKEND: "jax"}


class Slow(keras.utils.PyDataset):
    def __init__(self):
        super().__init__()

    def __len__(self):
        return 4

    def __getitem__(self, index):
        time.sleep(0.03)
        return np.zeros((2, 3), np.float32), np.zeros((2, 1), np.float32)


def make_model():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    return model


def test_metrics_of_epochs_and_steps_are_logged(tracker, run):
    inputs, targets = np.zeros((16, 3), np.float32), np.zeros((16, 1), np.float32)
    make_model().fit(
        inputs,
        targets,
        batch_size=4,
        epochs=2,
        validation_data=(inputs, targets),
        callbacks=[SeamarkCallback(run)],
        verbose=0,
    )
    run.finish()

    assert tracker.steps("train/loss") == [0, 1]
    assert tracker.steps("val/mae") == [0, 1]
    assert len(tracker.values(f"{STEP}/seconds")) == 8
    facts = tracker.attributes()
    assert facts[f"{FACTS}/framework"] == FRAMEWORKS[BACKEND]
    assert facts[f"{FACTS}/keras/backend"] == BACKEND
    assert facts[f"{FACTS}/keras/precision"] == "float32"
    assert facts[f"{FACTS}/model/parameters"] == 4
    assert facts[f"{FACTS}/optimizer/class"] == "Adam"
    assert facts["params/fit/epochs"] == 2


fetches_before = pytest.mark.skipif(
    BACKEND != "torch", reason="batches are fetched in the call that computes"
)


@fetches_before
def test_slow_data_is_seen_as_a_wait(tracker, run):
    make_model().fit(Slow(), callbacks=[SeamarkCallback(run)], verbose=0)
    run.finish()

    waits = tracker.values(f"{STEP}/data_wait_seconds")
    assert len(waits) == 4
    assert min(waits[:-1]) >= 0.025
    # No wait is recorded after the last batch.
    assert waits[-1] < 0.025


@pytest.mark.skipif(BACKEND == "torch", reason="batches are fetched before")
def test_a_wait_that_is_not_seen_is_unknown_and_not_nothing(tracker, run):
    make_model().fit(Slow(), callbacks=[SeamarkCallback(run)], verbose=0)
    run.finish()

    assert min(tracker.values(f"{STEP}/seconds")) >= 0.025
    assert tracker.values(f"{STEP}/data_wait_seconds") == []


@fetches_before
def test_an_end_that_is_told_late_says_nothing_of_the_wait(tracker, run):
    callback = SeamarkCallback(run)
    callback.set_model(make_model())
    callback.on_train_begin()
    callback.on_train_batch_begin(0)
    callback.on_train_batch_begin(1)
    callback.on_train_batch_end(0)
    time.sleep(0.1)
    callback.on_train_batch_end(1)
    callback.on_train_batch_begin(2)
    callback.on_train_batch_begin(3)
    callback.on_train_batch_end(2)
    time.sleep(0.1)
    callback.on_train_batch_begin(4)
    callback.on_epoch_end(0)
    callback.on_train_end()
    run.finish()

    assert tracker.steps(f"{STEP}/data_wait_seconds") == [0, 1, 2, 3, 4]
    assert max(tracker.values(f"{STEP}/data_wait_seconds")) < 0.1


class Interrupting(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        raise KeyboardInterrupt


def interrupt_fit(run):
    with pytest.raises(KeyboardInterrupt):
        make_model().fit(
            Slow(), callbacks=[SeamarkCallback(run), Interrupting()], verbose=0
        )


def test_after_an_interruption_another_callback_times_the_next_fit(tracker, run):
    interrupt_fit(run)
    make_model().fit(Slow(), callbacks=[SeamarkCallback(run)], verbose=0)
    run.finish()

    assert len(tracker.values(f"{STEP}/seconds")) == 4


def test_loops_of_others_are_timed_after_an_interruption(tracker, run):
    interrupt_fit(run)
    list(run.loader([1, 2, 3]))
    run.finish()

    assert len(tracker.values(f"{STEP}/seconds")) == 3


def test_metrics_of_a_training_in_several_processes_are_logged_by_the_first(
    tracker, run, monkeypatch
):
    # As with JAX, possibly simulated here.
    jax = sys.modules.get("jax") or SimpleNamespace()
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.setattr(jax, "process_index", lambda: 1, raising=False)
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    monkeypatch.setattr(keras.distribution, "distribution", object)

    make_model().fit(Slow(), callbacks=[SeamarkCallback(run)], verbose=0)
    for each in process_hooks.open_runs():
        each.finish()

    assert tracker.values("train/loss") == []
    assert "params/fit/epochs" not in tracker.attributes()
    rank_1 = "monitoring/train/rank-1/step"
    assert len(tracker.values(f"{rank_1}/seconds")) == 4


@pytest.mark.skipif(BACKEND == OTHER_BACKEND, reason="it is what computes here")
@pytest.mark.timeout(600)
def test_the_same_holds_where_jax_computes():
    framework(OTHER_BACKEND)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        env={**os.environ, "KERAS_BACKEND": OTHER_BACKEND},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )

    assert done.returncode == 0, done.stdout
