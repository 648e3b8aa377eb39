"""JAX on a real GPU, in a separate process: micro-benchmarks wait for the GPU."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from tests.gpu.card import number

if find_spec("jax") is None:
    pytest.skip("JAX is not installed", allow_module_level=True)

SCRIPT = """
import json, time
import jax, jax.numpy as jnp, agent

if jax.default_backend() != "gpu":
    print("null")
    raise SystemExit

run = agent.init("r", project="p", stage="train", sample_seconds=0.5)

@jax.jit
def step(values):
    body = lambda _, found: jnp.tanh(found @ values)
    return {"loss": jax.lax.fori_loop(0, 50, body, values).sum()}

values = jnp.full((4096, 4096), 1e-3, jnp.bfloat16)
jax.block_until_ready(step(values))
began = time.perf_counter()
for _ in range(10):
    found = step(values)
launched = (time.perf_counter() - began) / 10
jax.block_until_ready(found)
seconds = (time.perf_counter() - began) / 10

for _ in run.loader(range(4)):
    with run.phase("step"):
        jax.block_until_ready(step(values))
synthetic = run.probe.synthetic(step, values, seconds=1)

def make_batch(size):
    return jnp.ones((size if size < 64 else 2**22, 2**20))

batch = run.probe.batch(lambda batch: batch.sum(), make_batch, [8, 16, 64], seconds=1)
run["loss"].append(found["loss"])
run.finish()
print(json.dumps({
    "seconds": seconds,
    "launched": launched,
    "synthetic": synthetic and synthetic.step_seconds,
    "out_of_memory_at": batch and batch.out_of_memory_at,
}))
"""


def test_trials_and_phases_of_jax_last_until_the_gpu_is_done(tracker, run_script):
    ended = run_script(
        SCRIPT,
        seconds=42,
        SEAMARK_MONITOR="yes",
        XLA_PYTHON_CLIENT_PREALLOCATE="false",
        # JAX's allocator waits for other processes to free memory before it fails.
        XLA_PYTHON_CLIENT_ALLOCATOR="platform",
        TF_CPP_MIN_LOG_LEVEL="3",
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    found = json.loads(ended.stdout.splitlines()[-1])
    if found is None:
        pytest.skip("JAX finds no GPU")

    assert found["synthetic"] == pytest.approx(found["seconds"], rel=0.25)
    assert found["out_of_memory_at"] == 64
    phases = tracker.values("monitoring/train/step/phase/step_seconds")
    assert min(phases) > 0.5 * found["seconds"]
    assert tracker.attributes()["monitoring/train/facts/framework"] == "jax"
    assert tracker.values(f"monitoring/train/gpu/{number()}/power_watts")
    assert len(tracker.values("loss")) == 1
