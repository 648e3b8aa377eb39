from __future__ import annotations

import os
import time

import numpy as np

from tests.frameworks.requiring import framework

torch = framework("torch")
os.environ.setdefault("KERAS_BACKEND", "torch")
keras = framework("keras")

from agent.frameworks.keras import SeamarkCallback  # noqa: E402

STEP = "monitoring/train/step"
FACTS = "monitoring/train/facts"


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
    assert facts[f"{FACTS}/framework"] == "pytorch"
    assert facts[f"{FACTS}/keras/backend"] == "torch"
    assert facts[f"{FACTS}/keras/precision"] == "float32"
    assert facts[f"{FACTS}/model/parameters"] == 4
    assert facts[f"{FACTS}/optimizer/class"] == "Adam"
    assert facts["params/fit/epochs"] == 2


def test_slow_data_is_seen_as_a_wait(tracker, run):
    make_model().fit(Slow(), callbacks=[SeamarkCallback(run)], verbose=0)
    run.finish()

    waits = tracker.values(f"{STEP}/data_wait_seconds")
    assert len(waits) == 4
    assert min(waits[:-1]) >= 0.025
    # Behind the last batch nothing is waited for.
    assert waits[-1] < 0.025
