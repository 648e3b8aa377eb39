from __future__ import annotations

import time

import pytest

import agent
from tests.slow.frameworks.requiring import framework

torch = framework("torch")
data = torch.utils.data

from seamark.frameworks.torch import describe  # noqa: E402
from seamark.probes.process.torch_compile import TorchCompileProbe  # noqa: E402

FACTS = "monitoring/train/facts"
STEP = "monitoring/train/step"


class Slow(data.Dataset):
    """Examples that take a while; phases in it may run in a loader worker."""

    def __init__(self, run=None):
        self.run = run

    def __len__(self):
        return 12

    def __getitem__(self, index):
        time.sleep(0.005)
        if self.run is not None:
            with self.run.phase("decode"):
                self.run["decoded"].append(index)
        return torch.full((3,), float(index)), index % 2


def make_model():
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))


def train(run, loader, *, autocast=False):
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters())
    describe(run, model=model, optimizer=optimizer)
    for inputs, labels in run.loader(loader):
        enabled = torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast)
        with enabled, run.phase("forward"):
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        with run.phase("backward"):
            loss.backward()
        with run.phase("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        run["train/loss"].append(loss)
    return model


def test_a_loader_is_waited_for_and_says_how_it_was_set_up(tracker, run):
    loader = data.DataLoader(
        Slow(), batch_size=4, num_workers=2, persistent_workers=True, prefetch_factor=3
    )
    train(run, loader)
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/framework"] == "pytorch"
    assert facts[f"{FACTS}/batch_size"] == 4
    assert facts[f"{FACTS}/loader_workers"] == 2
    assert facts[f"{FACTS}/loader_persistent_workers"] is True
    assert facts[f"{FACTS}/loader_pin_memory"] is False
    assert facts[f"{FACTS}/loader_prefetch_factor"] == 3
    assert tracker.values(f"{STEP}/examples") == [4, 4, 4]
    assert len(tracker.values(f"{STEP}/data_wait_seconds")) == 3
    for phase in ("forward", "backward", "optimizer"):
        assert min(tracker.values(f"{STEP}/phase/{phase}_seconds")) > 0


def test_without_workers_the_loader_says_so_and_the_wait_is_the_loading(tracker, run):
    train(run, data.DataLoader(Slow(), batch_size=4))
    run.finish()

    assert tracker.attributes()[f"{FACTS}/loader_workers"] == 0
    assert min(tracker.values(f"{STEP}/data_wait_seconds")[:2]) >= 0.02


def test_model_optimizer_and_settings_are_described(tracker, run):
    train(run, data.DataLoader(Slow(), batch_size=4))
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/torch/version"] == torch.__version__
    assert facts[f"{FACTS}/torch/cudnn_benchmark"] is False
    assert facts[f"{FACTS}/torch/matmul_precision"] == "highest"
    assert facts[f"{FACTS}/torch/threads"] == torch.get_num_threads()
    assert facts[f"{FACTS}/model/parameters"] == 3 * 4 + 4 + 4 * 2 + 2
    assert facts[f"{FACTS}/model/parameter_bytes"] == 4 * 26
    assert facts[f"{FACTS}/model/compiled"] is False
    assert facts[f"{FACTS}/optimizer/class"] == "AdamW"


@pytest.fixture
def precision():
    matmul = torch.backends.cuda.matmul
    torch.set_float32_matmul_precision("highest")
    yield matmul
    torch.set_float32_matmul_precision("highest")


@pytest.mark.parametrize("chosen", ["highest", "high", "medium"])
def test_the_precision_of_products_is_what_was_chosen(run, precision, chosen):
    torch.set_float32_matmul_precision(chosen)
    describe(run)

    stated = run.steps._reported
    assert stated["torch/matmul_precision"] == chosen
    assert stated["torch/tf32_matmul"] is (chosen != "highest")


def test_tf32_is_told_whichever_way_it_was_chosen(run, precision):
    if not hasattr(precision, "fp32_precision"):
        pytest.skip("before PyTorch 2.9 there is one way")
    precision.fp32_precision = "tf32"
    describe(run)

    stated = run.steps._reported
    assert stated["torch/matmul_precision"] == "high"
    assert stated["torch/tf32_matmul"] is True
    assert stated["torch/tf32_cudnn"] is True


@pytest.mark.parametrize(("autocast", "expected"), [(True, "bfloat16"), (False, None)])
def test_autocast_is_known_where_it_was_seen(tracker, run, autocast, expected):
    train(run, data.DataLoader(Slow(), batch_size=4), autocast=autocast)
    run.finish()

    assert tracker.attributes().get(f"{FACTS}/torch/autocast") == expected


def test_operations_of_an_example_are_what_the_script_says(tracker, run):
    describe(run, flops_per_example=6 * 10**12)
    run.finish()

    assert tracker.attributes()[f"{FACTS}/model/flops_per_example"] == 6e12


def test_compiled_and_wrapped_models_are_seen_through(tracker, run):
    model = torch.nn.DataParallel(torch.compile(make_model()))
    describe(run, model=model)
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/model/class"] == "Sequential"
    assert facts[f"{FACTS}/model/wrapper"] == "DataParallel"
    assert facts[f"{FACTS}/model/compiled"] is True


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({}, "default"),
        ({"mode": "reduce-overhead"}, "reduce-overhead"),
        ({"options": {"trace.enabled": False}}, "custom"),
    ],
)
def test_how_a_model_is_compiled_is_told(tracker, run, options, mode):
    describe(run, model=torch.compile(make_model(), dynamic=True, **options))
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/model/compile_mode"] == mode
    assert facts[f"{FACTS}/model/compile_backend"] == "inductor"
    assert facts[f"{FACTS}/model/compile_dynamic"] is True


def test_another_compiler_has_a_name_and_no_mode(tracker, run):
    describe(run, model=torch.compile(make_model(), backend="eager"))
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/model/compile_backend"] == "eager"
    assert f"{FACTS}/model/compile_mode" not in facts


def test_a_compiler_counts_what_it_made_anew():
    torch._dynamo.reset()

    @torch.compile(backend="eager", dynamic=False)
    def double(values):
        return values * 2

    probe = TorchCompileProbe()
    before = probe.sample(0.0)
    double(torch.ones(2))
    first = probe.sample(5.0)
    double(torch.ones(3))
    double(torch.ones(3))

    sample = probe.sample(10.0)

    assert before == {}
    assert first["torch/recompiles"] == 0
    assert sample["torch/recompiles"] == 1
    assert sample["torch/compiled_graphs"] >= 2
    assert sample["torch/graph_breaks"] >= 0


def test_what_spreads_a_model_over_processes_says_how(tracker, run, tmp_path):
    distributed = torch.distributed
    distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path / 'group'}", rank=0, world_size=1
    )
    try:
        model = torch.nn.parallel.DistributedDataParallel(
            make_model(),
            bucket_cap_mb=7,
            find_unused_parameters=True,
            static_graph=True,
        )
        describe(run, model=model)
    finally:
        distributed.destroy_process_group()
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/model/ddp_bucket_bytes"] == 7 * 2**20
    assert facts[f"{FACTS}/model/ddp_find_unused_parameters"] is True
    assert facts[f"{FACTS}/model/ddp_gradient_as_bucket_view"] is False
    assert facts[f"{FACTS}/model/ddp_static_graph"] is True


@pytest.mark.parametrize("enabled", [True, False])
def test_a_gradient_scaler_is_described_without_a_wait(tracker, run, enabled):
    scaler = torch.amp.GradScaler("cpu", enabled=enabled, growth_interval=7)
    describe(run, scaler=scaler)
    run.finish()

    facts = tracker.attributes()
    assert facts[f"{FACTS}/grad_scaler/enabled"] is enabled
    assert facts.get(f"{FACTS}/grad_scaler/growth_interval") == (7 if enabled else None)


def test_a_model_that_raises_is_not_described(tracker, run):
    class Broken(torch.nn.Module):
        def parameters(self, recurse=True):
            raise RuntimeError("not yet")

    describe(run, model=Broken())


def test_frozen_and_lazy_parameters_are_told_apart(tracker, run):
    model = make_model()
    model[0].requires_grad_(False)
    describe(run, model=model)
    assert run.steps._reported["model/trainable_parameters"] == 4 * 2 + 2

    lazy = torch.nn.LazyLinear(3)
    describe(run, model=lazy)
    run.finish()
    assert tracker.attributes()[f"{FACTS}/model/class"] == "LazyLinear"


@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_loader_workers_log_beside_the_training_and_hang_nothing(
    run_script, tracker, context
):
    ended = run_script(
        f"""
import torch, agent
from tests.slow.frameworks.test_torch import Slow, train
if __name__ == "__main__":
    run = agent.init("r", stage="train", monitor=False)
    loader = torch.utils.data.DataLoader(
        Slow(run), batch_size=4, num_workers=2, multiprocessing_context={context!r}
    )
    train(run, loader)
""",
        seconds=100,
    )

    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(tracker.values(f"{STEP}/seconds")) == 3
    assert sorted(tracker.values("decoded")) == list(range(12))


def test_losses_are_logged_as_they_are(tracker, run):
    train(run, data.DataLoader(Slow(), batch_size=4))
    run.finish()

    assert len(tracker.values("train/loss")) == 3


def exhaust_memory():
    return torch.empty(10**16)


def test_out_of_memory_says_what_memory_was_full_of(tracker, run):
    model = train(run, data.DataLoader(Slow(), batch_size=4))
    large = torch.ones(1000, 1000)
    with pytest.raises(RuntimeError), run:
        exhaust_memory()

    facts = tracker.attributes()
    report = "monitoring/train/out_of_memory"
    assert facts[f"{report}/device"] == "cpu"
    assert facts[f"{report}/requested_bytes"] == 4 * 10**16
    assert facts[f"{report}/parameters_bytes"] >= sum(
        4 * p.numel() for p in model.parameters()
    )
    assert facts[f"{report}/other_tensors_bytes"] >= large.nbytes
    assert "other tensors: float32 1000×1000" in facts[f"{report}/largest"]
    (closed,) = tracker.of_kind("close")
    assert "allocate" in closed["failure"]


def test_what_the_backward_pass_needs_is_told_apart_from_other_tensors(tracker, run):
    layers = [torch.nn.Linear(100, 100), torch.nn.ReLU()] * 10
    inputs = torch.ones(5_000, 100)
    gone = torch.nn.Sequential(*layers)(inputs)
    with pytest.raises(RuntimeError), run:
        exhaust_memory()

    facts = tracker.attributes()
    report = "monitoring/train/out_of_memory"
    # Only the last one is reachable by a name.
    assert facts[f"{report}/activations_bytes"] >= 10 * gone.nbytes
    assert "activations: float32 5000×100  × 1" in facts[f"{report}/largest"]
    assert "other tensors: float32 5000×100\n" in facts[f"{report}/largest"] + "\n"


def test_tensors_that_have_no_memory_hold_none_and_are_left_alone(
    tracker, run, recwarn
):
    with torch._subclasses.FakeTensorMode():
        fake = torch.ones(1_000, 1_000)
    with pytest.raises(RuntimeError), run:
        exhaust_memory()

    largest = tracker.attributes()["monitoring/train/out_of_memory/largest"]
    assert fake.shape == (1_000, 1_000)
    assert "1000×1000" not in largest
    assert not [each for each in recwarn if "FakeTensor" in str(each.message)]


def test_other_failures_are_no_post_mortem(tracker, run):
    with pytest.raises(RuntimeError), run:
        raise RuntimeError("shapes differ")

    assert not any("out_of_memory" in path for path in tracker.attributes())


def test_an_uncaught_failure_of_memory_is_examined(run_script, tracker):
    ended = run_script(
        """
import torch, agent
run = agent.init("r", stage="train", monitor=False)
kept = torch.ones(1 << 20)
torch.empty(10**16)
"""
    )

    assert ended.returncode == 1
    facts = tracker.attributes()
    assert facts["monitoring/train/out_of_memory/other_tensors_bytes"] >= 4 << 20


def test_torch_is_not_imported_for_a_script_that_does_not_use_it(run_script):
    ended = run_script(
        """
import sys, agent
run = agent.init("r", mode="offline")
for batch in run.loader([1, 2]):
    with run.phase("forward"): pass
run.fail(MemoryError())
assert "torch" not in sys.modules
"""
    )

    assert ended.returncode == 0, ended.stderr


def test_a_run_that_is_off_trains_the_same():
    off = agent.init("off", mode="disabled")

    train(off, data.DataLoader(Slow(), batch_size=4))
