"""The callbacks for Ultralytics, with real trainings on eight generated pictures."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest

from seamark.lifecycle import process_hooks
from tests.slow.frameworks.requiring import framework

torch = framework("torch")
ultralytics = framework("ultralytics")
pil = framework("PIL.Image")

from seamark.frameworks.ultralytics import attach  # noqa: E402

STEP = "monitoring/train/step"
FACTS = "monitoring/train/facts"
PICTURES = 8
EPOCHS = 2
BATCH = 4


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A detection dataset: a red or green square in each picture."""
    root = tmp_path_factory.mktemp("squares")
    random = np.random.default_rng(0)
    for name in ("images", "labels"):
        (root / name).mkdir()
    for number in range(PICTURES):
        pixels = random.integers(0, 60, (64, 64, 3), dtype=np.uint8)
        left, top = random.integers(4, 30, 2)
        pixels[top : top + 24, left : left + 24, number % 2] = 255
        pil.fromarray(pixels).save(root / f"images/{number}.png")
        center = (left + 12) / 64, (top + 12) / 64
        label = f"{number % 2} {center[0]} {center[1]} 0.375 0.375\n"
        (root / f"labels/{number}.txt").write_text(label)
    description = root / "squares.yaml"
    description.write_text(
        f"path: {root}\ntrain: images\nval: images\nnames: [red, green]\n"
    )
    return description


@pytest.fixture
def train(dataset, tmp_path):
    def train_once(model, **options):
        options = {"epochs": EPOCHS, "batch": BATCH, "plots": False, **options}
        return model.train(
            data=str(dataset),
            imgsz=64,
            device="cpu",
            project=str(tmp_path / "trainings"),
            verbose=False,
            **options,
        )

    return train_once


@pytest.fixture
def model():
    return ultralytics.YOLO("yolo11n.yaml")


def test_metrics_of_epochs_are_logged(tracker, run, model, train):
    attach(model, run)
    train(model)
    run.finish()

    # As Ultralytics prints them.
    epochs = [1, 2]
    assert tracker.steps("train/box_loss") == epochs
    assert tracker.steps("val/cls_loss") == epochs
    assert tracker.steps("metrics/mAP50(B)") == epochs
    assert tracker.steps("lr/pg0") == epochs
    facts = tracker.attributes()
    assert facts["params/epochs"] == EPOCHS
    assert facts["params/imgsz"] == 64
    assert 0 <= facts["best/metrics/mAP50(B)"] <= 1
    assert facts[f"{FACTS}/batch_size"] == BATCH
    assert facts[f"{FACTS}/torch/autocast"] == "off"
    assert facts[f"{FACTS}/framework"] == "ultralytics"
    assert facts[f"{FACTS}/ultralytics/task"] == "detect"


def test_steps_and_their_phases_are_timed(tracker, run, model, train):
    attach(model, run)
    train(model)
    run.finish()

    steps = EPOCHS * PICTURES // BATCH
    seconds = tracker.values(f"{STEP}/seconds")
    assert len(seconds) == steps
    # The last step of an epoch waits for nothing.
    assert len(tracker.values(f"{STEP}/data_wait_seconds")) == steps
    assert tracker.values(f"{STEP}/examples") == [BATCH] * steps
    for name in ("copy", "forward", "backward"):
        spent = tracker.values(f"{STEP}/phase/{name}_seconds")
        assert len(spent) == steps
        assert all(0 < part < whole for part, whole in zip(spent, seconds, strict=True))
    # Between the epochs, and once with the best weights.
    assert len(tracker.values(f"{STEP}/phase/evaluate_seconds")) == EPOCHS + 1
    assert len(tracker.values(f"{STEP}/phase/checkpoint_seconds")) == EPOCHS
    assert not run.steps.is_looping


def test_plots_are_pictures_and_classes_a_table(tracker, run, model, train):
    attach(model, run)
    train(model, plots=True)
    run.finish()

    files = {m["path"] for m in tracker.of_kind("file")}
    pictures = [m["path"] for m in tracker.of_kind("records") if m["kind"] == "image"]
    assert len(pictures) == len(set(pictures))
    assert {
        "best/classes",
        "plots/confusion_matrix",
        "plots/labels",
        "plots/results",
        "plots/train_batch0",
        "plots/val_batch0_pred",
    } <= {*files, *pictures}
    assert "weights/best" not in files


def test_weights_are_uploaded_on_request(tracker, run, model, train):
    attach(model, run, weights=True)
    train(model, epochs=1)
    run.finish()

    (weights,) = [m for m in tracker.of_kind("file") if m["path"] == "weights/best"]
    assert weights["name"] == "best.pt"
    assert weights["size"] == model.trainer.best.stat().st_size


def test_attaching_again_replaces_the_first(tracker, run, model, train):
    attach(model, "other")
    attach(model, run)
    train(model, epochs=1)
    run.finish()

    assert {m["run"] for m in tracker.of_kind("open")} == {"r"}
    assert tracker.steps("train/box_loss") == [1]


def test_without_a_run_the_training_names_one(tracker, model, train):
    attach(model)
    train(model, epochs=1, name="squares")
    for opened in process_hooks.open_runs():
        opened.finish()

    assert {m["run"] for m in tracker.of_kind("open")} == {"squares"}


def test_a_training_after_an_error_is_logged(tracker, run, model, train):
    def fail(trainer):
        if not hasattr(model, "has_failed"):
            model.has_failed = True
            raise ZeroDivisionError

    attach(model, run)
    model.add_callback("on_train_batch_end", fail)
    with pytest.raises(ZeroDivisionError):
        train(model, epochs=1)
    assert not run.steps.is_looping
    train(model, epochs=1)
    run.finish()

    assert len(tracker.values(f"{STEP}/seconds")) >= PICTURES // BATCH
    assert tracker.steps("train/box_loss") == [1]


def test_callbacks_reach_the_processes_of_several_gpus(run, model):
    # Ultralytics pickles them for the processes that it starts.
    cloudpickle = pytest.importorskip("cloudpickle", reason="only with several GPUs")
    attach(model)
    sent = pickle.loads(cloudpickle.dumps(model.callbacks["on_train_start"]))

    assert sent[-1].__self__._given is run


def test_an_error_of_the_agent_does_not_stop_the_training(
    tracker, run, model, train, caplog
):
    def remove(trainer):
        vars(trainer).pop("lr", None)

    attach(model, run)
    model.callbacks["on_fit_epoch_end"].insert(0, remove)
    with caplog.at_level(logging.WARNING):
        train(model, epochs=1, plots=False)

    assert model.trainer.best.exists()
    assert "on_fit_epoch_end failed: AttributeError" in caplog.text
