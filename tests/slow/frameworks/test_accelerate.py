from __future__ import annotations

import time

import pytest

import agent
from seamark.lifecycle import process_hooks
from tests.slow.frameworks.requiring import framework

torch = framework("torch")
accelerate = framework("accelerate")

from seamark.frameworks.accelerate import SeamarkTracker  # noqa: E402
from seamark.frameworks.torch import describe  # noqa: E402
from tests.slow.frameworks.test_torchrun import LAUNCH  # noqa: E402

STEP = "monitoring/train/step"
FACTS = "monitoring/train/facts"


def forget_accelerators():
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    accelerate.state.GradientState._reset_state()


@pytest.fixture(autouse=True)
def first_accelerator():
    """Reset the facts about the training setup, which are logged once per process."""
    forget_accelerators()
    yield
    forget_accelerators()


def make_loader(**options):
    examples = torch.utils.data.TensorDataset(torch.randn(8, 3))
    return torch.utils.data.DataLoader(examples, batch_size=4, **options)


def prepare(accelerator, model=None):
    model = model or torch.nn.Linear(3, 1)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    return accelerator.prepare(model, optimizer, make_loader(num_workers=1))


def stated(tracker, below=""):
    beginning = f"monitoring/train{below}/facts/"
    return {
        path.removeprefix(beginning): value
        for path, value in tracker.attributes().items()
        if path.startswith(beginning)
    }


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
    assert facts[f"{FACTS}/batch_size"] == 4
    assert facts[f"{FACTS}/optimizer/class"] == "SGD"
    # A run is finished by the code that opened it.
    assert tracker.values("after") == [1]


@pytest.mark.parametrize("is_prepared_first", [False, True])
def test_how_training_is_set_up_is_stated(tracker, run, is_prepared_first):
    accelerator = accelerate.Accelerator(
        log_with=SeamarkTracker(run),
        cpu=True,
        mixed_precision="bf16",
        gradient_accumulation_steps=2,
    )
    if is_prepared_first:
        prepare(accelerator)
    accelerator.init_trackers("digits")
    if not is_prepared_first:
        prepare(accelerator)
    accelerator.log({"loss": 1.0})
    run.finish()

    facts = stated(tracker)
    assert facts["accelerate/mixed_precision"] == "bf16"
    assert facts["accelerate/distributed_type"] == "NO"
    assert facts["accelerate/processes"] == 1
    assert facts["accelerate/accumulated_batches"] == 2
    assert facts["torch/autocast"] == "bfloat16"
    assert facts["model/class"] == "Linear"
    assert facts["model/parameters"] == 4
    assert facts["model/types"] == ["float32"]
    assert facts["optimizer/class"] == "AdamW"
    assert facts["optimizer/fused"] is True
    assert facts["batch_size"] == 4
    assert facts["loader_workers"] == 1
    # The script may compile or wrap the model later.
    assert "model/compiled" not in facts
    assert "model/wrapper" not in facts


def test_what_accelerate_compiles_is_stated(tracker, run):
    accelerator = accelerate.Accelerator(
        log_with=SeamarkTracker(run), cpu=True, dynamo_backend="eager"
    )
    accelerator.init_trackers("digits")
    prepare(accelerator)
    accelerator.end_training()
    run.finish()

    facts = stated(tracker)
    assert facts["model/class"] == "Linear"
    assert facts["model/compiled"] is True
    assert facts["model/compile_backend"] == "eager"


def test_what_a_script_describes_counts(tracker, run):
    accelerator = accelerate.Accelerator(log_with=SeamarkTracker(run), cpu=True)
    accelerator.init_trackers("digits")
    model, _, _ = prepare(accelerator)
    compiled = torch.compile(model, backend="eager")
    describe(run, model=compiled, flops_per_example=6)
    accelerator.log({"loss": 1.0})
    run.finish()

    facts = stated(tracker)
    assert facts["model/compiled"] is True
    assert facts["model/flops_per_example"] == 6
    assert facts["optimizer/class"] == "AdamW"


def test_of_several_models_none_is_stated_as_the_one(tracker, run):
    accelerator = accelerate.Accelerator(log_with=SeamarkTracker(run), cpu=True)
    prepare(accelerator)
    prepare(accelerator, torch.nn.Bilinear(3, 3, 1))
    accelerator.init_trackers("digits")
    accelerator.log({"loss": 1.0})
    run.finish()

    facts = stated(tracker)
    assert facts["accelerate/processes"] == 1
    assert not [name for name in facts if name.startswith(("model/", "optimizer/"))]


def test_autocast_of_a_script_is_known_better_than_that_accelerate_has_none(
    tracker, run
):
    accelerator = accelerate.Accelerator(log_with=SeamarkTracker(run), cpu=True)
    accelerator.init_trackers("digits")
    assert run.steps._reported["torch/autocast"] == "off"
    model, _, loader = prepare(accelerator)
    for (inputs,) in run.loader(loader):
        with torch.autocast("cpu", dtype=torch.bfloat16), run.phase("forward"):
            model(inputs)
        accelerator.log({"loss": 1.0})
    run.finish()

    assert stated(tracker)["torch/autocast"] == "bfloat16"


def test_accelerate_puts_autocast_into_the_model_where_phases_do_not_see_it(
    tracker, run
):
    accelerator = accelerate.Accelerator(cpu=True, mixed_precision="bf16")
    model, _, loader = prepare(accelerator)
    for (inputs,) in run.loader(loader):
        with run.phase("forward"):
            model(inputs)
    run.finish()

    # Only the tracker provides this fact.
    assert "torch/autocast" not in stated(tracker)


class Batch:
    """Takes long to be copied."""

    shape = (1,)
    copies = 0

    def to(self, device, **options):
        time.sleep(COPY_SECONDS)
        Batch.copies += 1
        return self


COPY_SECONDS = 0.02


@pytest.mark.parametrize("is_copied_by_the_loader", [True, False])
def test_copies_of_a_prepared_loader_are_a_part_of_the_wait(
    tracker, run, is_copied_by_the_loader
):
    accelerator = accelerate.Accelerator(cpu=True)
    loader = accelerator.prepare_data_loader(
        torch.utils.data.DataLoader([0] * 5, collate_fn=lambda numbers: Batch()),
        device_placement=is_copied_by_the_loader,
    )
    before = Batch.copies
    for batch in run.loader(loader):
        if not is_copied_by_the_loader:
            with run.phase("copy"):
                accelerate.utils.send_to_device(batch, accelerator.device)
    run.finish()

    waits = tracker.values(f"{STEP}/data_wait_seconds")
    assert Batch.copies == before + 5
    assert len(waits) == 5
    if is_copied_by_the_loader:
        # Waits of the first batch and at the end belong to no step.
        assert min(waits[:-1]) >= COPY_SECONDS
    else:
        assert sorted(waits)[2] < COPY_SECONDS
        assert min(tracker.values(f"{STEP}/phase/copy_seconds")) >= COPY_SECONDS


SPREAD = """
import accelerate, agent, torch
from seamark.frameworks.accelerate import SeamarkTracker
from seamark.frameworks.torch import describe
from tests.slow.frameworks.test_accelerate import prepare

run = agent.init("r", project="p", stage="train", monitor=False)
chosen = accelerate.DistributedDataParallelKwargs(bucket_cap_mb=3, static_graph=True)
accelerator = accelerate.Accelerator(
    log_with=SeamarkTracker(run), cpu=True, kwargs_handlers=[chosen]
)
accelerator.init_trackers("digits")
model, _, loader = prepare(accelerator)
if not accelerator.is_main_process:
    describe(run, model=model)
for (inputs,) in run.loader(loader):
    accelerator.backward(model(inputs).mean())
    accelerator.log({"loss": 1.0})
accelerator.end_training()
run.finish()
"""


@pytest.mark.timeout(300)
def test_what_is_spread_over_processes_is_stated_by_the_first(
    tracker, run_script, tmp_path
):
    script = tmp_path / "train.py"
    script.write_text(SPREAD)

    done = run_script(LAUNCH.format(ranks=2, script=script), seconds=240)

    assert done.returncode == 0, done.stderr
    facts = stated(tracker)
    assert facts["accelerate/distributed_type"] == "MULTI_CPU"
    assert facts["accelerate/processes"] == 2
    assert facts["distributed/world_size"] == 2
    assert facts["model/wrapper"] == "DistributedDataParallel"
    assert facts["model/ddp_bucket_bytes"] == 3 * 2**20
    # The other rank has described the result of `prepare`.
    described = stated(tracker, "/rank-1")
    about_model = {n: v for n, v in facts.items() if n.startswith("model/")}
    assert about_model == {n: described[n] for n in about_model}
    assert "accelerate/processes" not in described


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
    assert not process_hooks.open_runs()


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
