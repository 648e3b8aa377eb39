"""The agent does not initialize CUDA, in the script or in its child processes."""

from __future__ import annotations

import json

from tests.gpu.card import DEVICE, number, process_numbers, torch

STEP = "monitoring/train/step"

LOGGING = """
import json, os, time
import pynvml, torch, agent

def look():
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex({number})
    found = [p.pid for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)]
    return [torch.cuda.is_initialized(), os.getpid() in found, len(found)]

run = agent.init("r", project="p", stage="train", sample_seconds=0.5)
model = torch.nn.Linear(8, 8)
for batch in run.loader([torch.ones(4, 8)] * 10):
    with torch.autocast("cpu", dtype=torch.bfloat16), run.phase("forward"):
        loss = model(batch).float().sum()
    with run.phase("backward"):
        loss.backward()
    run["loss"].append(loss)
    run["weights"].append(agent.Histogram(model.weight))
    time.sleep(0.2)
run.probe.synthetic(model, batch, seconds=0.2)
before = look()
run.finish()
print(json.dumps([before, look()]))
"""


def test_a_script_that_does_not_use_the_gpu_has_nothing_on_it(tracker, run_script):
    torch.ones(1, device=DEVICE)
    others = len(process_numbers())
    ended = run_script(
        LOGGING.replace("{number}", str(number())), seconds=40, SEAMARK_MONITOR="yes"
    )

    assert ended.returncode == 0, ended.stderr
    for is_initialized, is_on_card, count in json.loads(ended.stdout.splitlines()[-1]):
        assert not is_initialized
        assert not is_on_card
        assert count <= others
    # Monitoring ran nevertheless.
    place = f"monitoring/train/gpu/{number()}"
    assert tracker.values(f"{place}/power_watts")
    assert len(tracker.values("loss")) == 10
    assert not any("/device/" in path for path in tracker.paths())
    assert not any("/allocator/" in path for path in tracker.paths())


FORKING = """
import json, os
import pynvml, torch, agent

class Examples(torch.utils.data.Dataset):
    def __init__(self, run):
        self.run = run

    def __len__(self):
        return 16

    def __getitem__(self, index):
        with self.run.phase("decode"):
            self.run["decoded"].append(index)
        return torch.ones(8), os.getpid(), torch.cuda.is_initialized()

# From here on, a process that is forked cannot use the GPU.
torch.cuda.init()
run = agent.init("r", project="p", stage="train", sample_seconds=0.5)
model = torch.nn.Linear(8, 8)
loader = torch.utils.data.DataLoader(
    Examples(run), batch_size=2, num_workers=2, multiprocessing_context="fork"
)
pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex({number})
workers, on_card, began = set(), set(), []
for _ in range(3):
    for inputs, processes, are_initialized in run.loader(loader):
        with run.phase("forward"):
            model.cuda()(inputs.cuda()).sum().backward()
            # The next workers are forked while events of this phase are pending.
            torch.cuda._sleep(100_000_000)
        workers |= {*processes.tolist()}
        began += are_initialized.tolist()
        found = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
        on_card |= {process.pid for process in found}
torch.cuda.synchronize()
run.finish()
print(json.dumps([len(workers), any(began), len(workers & on_card)]))
"""


def test_forked_workers_touch_no_gpu_and_the_loop_is_timed_once_it_does(
    tracker, run_script
):
    ended = run_script(
        FORKING.replace("{number}", str(number())), seconds=40, SEAMARK_MONITOR="yes"
    )

    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1]) == [6, False, 0]
    assert sorted(tracker.values("decoded")) == sorted([*range(16)] * 3)
    # All steps, perhaps except the one that moved the first tensor to the GPU.
    assert len(tracker.values(f"{STEP}/device/forward_seconds")) >= 7
