from __future__ import annotations

import pytest

import agent
from tests.frameworks.requiring import framework

torch = framework("torch")
accelerate = framework("accelerate")

from agent.frameworks.accelerate import SeamarkTracker  # noqa: E402
from agent.frameworks.torch import describe  # noqa: E402


def test_a_loop_logs_through_its_accelerator(tracker, run):
    accelerator = accelerate.Accelerator(log_with=SeamarkTracker(run), cpu=True)
    accelerator.init_trackers("digits", config={"lr": 0.1, "net": {"depth": 2}})
    examples = torch.utils.data.TensorDataset(torch.randn(8, 3))
    model, optimizer, loader = accelerator.prepare(
        torch.nn.Linear(3, 1),
        torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))]),
        torch.utils.data.DataLoader(examples, batch_size=4),
    )
    describe(run, model=model, optimizer=optimizer)
    for step, (inputs,) in enumerate(run.loader(loader)):
        loss = model(inputs).mean()
        accelerator.backward(loss)
        accelerator.log({"loss": loss, "note": "text"}, step=step)
    assert accelerator.get_tracker("seamark", unwrap=True) is run
    accelerator.end_training()
    run["after"].append(1)
    run.finish()

    facts = tracker.attributes()
    assert tracker.steps("loss") == [0, 1]
    assert facts["note"] == "text"
    assert facts["params/net/depth"] == 2
    assert facts["monitoring/train/facts/batch_size"] == 4
    assert facts["monitoring/train/facts/optimizer/class"] == "SGD"
    # Whoever opened the run ends it.
    assert tracker.values("after") == [1]


@pytest.mark.parametrize("is_persistent", [False, True])
def test_trials_of_a_prepared_loader_leave_it_as_it_was(run, is_persistent):
    def order(*trials):
        torch.manual_seed(0)
        loader = accelerate.Accelerator(cpu=True).prepare(
            torch.utils.data.DataLoader(
                torch.utils.data.TensorDataset(torch.arange(200.0)),
                batch_size=4,
                shuffle=True,
                num_workers=int(is_persistent),
                persistent_workers=is_persistent,
            )
        )
        assert all(trial(loader) for trial in trials)
        return [inputs.tolist() for (inputs,) in loader], torch.rand(1).item()

    expected = order()

    assert order(run.probe.cached, run.probe.loader) == expected


def test_a_run_that_the_tracker_opened_ends_with_the_training(tracker):
    accelerator = accelerate.Accelerator(log_with=SeamarkTracker("mine"), cpu=True)
    accelerator.init_trackers("digits")
    accelerator.log({"loss": 1.0})
    accelerator.end_training()

    (closed,) = tracker.of_kind("close")
    assert closed["state"] == "finished"
    assert tracker.values("loss") == [1.0]
    assert not agent.hooks.open_runs()


@pytest.mark.parametrize("given", [None, "r"])
def test_a_run_that_was_open_before_goes_on_and_is_found_again(tracker, given):
    run = agent.init("r", monitor=False, strict=True)
    tracker_of_both = SeamarkTracker(given)
    for _ in range(2):
        accelerator = accelerate.Accelerator(log_with=tracker_of_both, cpu=True)
        accelerator.init_trackers("digits")
        accelerator.log({"loss": 1.0})
        accelerator.end_training()
    run["after"].append(1)
    run.finish()

    assert tracker.values("loss") == [1.0, 1.0]
    assert tracker.values("after") == [1.0]


def test_a_tracker_opens_a_run_for_each_training(tracker):
    tracker_of_both = SeamarkTracker("mine")
    for loss in 1.0, 2.0:
        accelerator = accelerate.Accelerator(log_with=tracker_of_both, cpu=True)
        accelerator.init_trackers("digits")
        accelerator.log({"loss": loss})
        accelerator.end_training()

    assert len(tracker.of_kind("close")) == 2
    assert tracker.values("loss") == [1.0, 2.0]


@pytest.fixture
def registered():
    accelerate.tracking.register_tracker_class(SeamarkTracker)
    yield
    del accelerate.tracking.LOGGER_TYPE_TO_CLASS[SeamarkTracker.name]


def train_by_name():
    accelerator = accelerate.Accelerator(log_with="seamark", cpu=True)
    accelerator.init_trackers("digits", config={"lr": 0.1})
    accelerator.log({"loss": 1.0})
    accelerator.end_training()


def test_a_registered_tracker_opens_a_run_of_the_project_for_each_training(
    tracker, registered
):
    train_by_name()
    train_by_name()

    first, second = tracker.of_kind("open")
    assert first["project"] == second["project"] == "digits"
    assert first["run"] != second["run"]
    assert len(tracker.of_kind("close")) == 2
    assert tracker.values("loss") == [1.0, 1.0]


def test_a_registered_tracker_opens_the_run_that_the_environment_names(
    tracker, registered, monkeypatch
):
    monkeypatch.setenv("SEAMARK_RUN", "mine")
    train_by_name()

    assert [message["run"] for message in tracker.of_kind("open")] == ["mine"]


def test_a_registered_tracker_logs_into_the_run_that_is_open(tracker, run, registered):
    train_by_name()
    run["after"].append(1)
    run.finish()

    assert [message["run"] for message in tracker.of_kind("open")] == ["r"]
    assert tracker.values("loss") == [1.0]
    assert tracker.values("after") == [1.0]


def test_making_a_tracker_leaves_it_to_the_accelerator_to_distribute():
    state = accelerate.state.PartialState
    state._reset_state()
    ours = SeamarkTracker("mine")
    assert state._shared_state == {}

    accelerate.Accelerator(log_with=ours, cpu=True)
    assert state._shared_state
