"""The script of CF-21: a loop that takes turns with its run awake and at rest."""

from __future__ import annotations

# A step logs a hundred metrics, ten times a second.
STEP_SECONDS = 0.1
LOOP = """
import contextlib, json, os, sys, threading, time

import agent
from seamark.lifecycle.background import Background

work, step_seconds, url = sys.argv[1], float(sys.argv[2]), sys.argv[3]
data = {f"m/{number}": 0.5 for number in range(100)}
is_awake = threading.Event()
wait_for_a_turn = Background._wait

def wait(self, seconds):
    wait_for_a_turn(self, seconds)
    is_awake.wait()

Background._wait = wait

def seconds_of(steps, count):
    for _ in range(count // 5): next(steps)
    began = time.perf_counter()
    for _ in range(count): next(steps)
    return (time.perf_counter() - began) / count

class Python:
    def __init__(self):
        self.times = 1
        self.times = max(1, round(step_seconds / seconds_of(self.endless(), 100)))
        # What a second one holds on to moves the objects of both, and so their paces.
        self.only = self.endless()

    def steps(self, run):
        return self.only

    def endless(self):
        while True:
            for _ in range(self.times):
                rows = [{"id": number, "name": f"row {number}", "value": number / 7} for number in range(200)]
                rows.sort(key=lambda row: row["name"])
                sum(len(row["name"]) for row in json.loads(json.dumps(rows)))
            yield

class Torch:
    device, width, rows = "cpu", 512, 64

    def __init__(self):
        import torch
        # The other core is for whatever else there is, as on machines with more of them.
        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.torch = torch
        layer, width = torch.nn.Linear, self.width
        self.model = torch.nn.Sequential(layer(256, width), torch.nn.ReLU(), layer(width, width), torch.nn.ReLU(), layer(width, 10)).to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.001)
        self.fill(self.rows)
        self.fill(max(1, round(self.rows * step_seconds / seconds_of(self.steps(None), 50))))

    def fill(self, rows):
        self.batch = rows
        self.examples = self.made_of(20 * rows)

    def made_of(self, *shape):
        torch = self.torch
        return torch.utils.data.TensorDataset(torch.randn(*shape, 256), torch.randint(10, shape))

    def steps(self, run):
        torch = self.torch
        batches = torch.utils.data.DataLoader(self.examples, batch_size=self.batch)
        nothing = contextlib.nullcontext()
        phase = lambda name: nothing
        if run is not None:
            batches, phase = run.loader(batches), run.phase
        while True:
            for inputs, labels in batches:
                with phase("forward"):
                    outputs = self.model(inputs.to(self.device))
                    loss = torch.nn.functional.cross_entropy(outputs, labels.to(self.device))
                with phase("backward"):
                    loss.backward()
                with phase("optimizer"):
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                # Who looks at the loss waits for the GPU, and so for all that held it up.
                loss.item()
                yield

class Gpu(Torch):
    device, width, rows = "cuda", 8192, 4096

    def fill(self, rows):
        # Whole batches: where memory is found for one that is put together moves its pace.
        self.batch = None
        self.examples = self.made_of(20, rows)

def turn(run, steps, seconds):
    times, spent, taken = [], [], []
    now, used, theirs = time.perf_counter(), time.thread_time(), session.cpu_seconds()
    end = now + seconds
    while now < end:
        began, used_before, theirs_before = now, used, theirs
        next(steps)
        if run is not None: run.log(data)
        now, used, theirs = time.perf_counter(), time.thread_time(), session.cpu_seconds()
        times.append(now - began)
        spent.append(used - used_before)
        taken.append(theirs - theirs_before)
    return {"times": times, "spent": spent, "taken": taken}

loop = {"python": Python, "torch": Torch, "gpu": Gpu}[work]()
os.environ.update(SEAMARK_URL=url, SEAMARK_SPOOL=os.path.join(os.getcwd(), "spool"))
run = agent.init("r")
session = run._session
turns = {"rest": (None, loop.steps(None)), "control": (None, loop.steps(None)), "awake": (run, loop.steps(run))}
for line in sys.stdin:
    who, seconds = line.split()
    logged, steps = turns[who]
    if logged is None: is_awake.clear()
    else: is_awake.set()
    # What the threads had begun, they end; what they have missed, they catch up on.
    turn(logged, steps, 2 * step_seconds)
    print(json.dumps(turn(logged, steps, float(seconds))), flush=True)
is_awake.set()
run.finish(timeout=0)
"""
