"""Synchronization of a trial in a process with JAX; GPUs are in test_torch_devices."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

import agent
from tests.agent.torch_double import CudaDouble, TorchDouble


@pytest.fixture
def run(tracker):
    return agent.init("r", stage="train", monitor=False)


class Array:
    """Like JAX's arrays: computed after the return, unless waited for."""

    shape = ()
    is_waited_for = False

    def block_until_ready(self):
        self.is_waited_for = True
        return self


def leaves(tree):
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in leaves(part)]
    return [] if tree is None else [tree]


def make_batch(size):
    return [0.0] * size


@pytest.fixture(autouse=True)
def jax(monkeypatch):
    jax = ModuleType("jax")
    jax.tree_util = SimpleNamespace(tree_leaves=leaves)
    jax.block_until_ready = lambda tree: [
        leaf.block_until_ready() for leaf in leaves(tree) if isinstance(leaf, Array)
    ]
    monkeypatch.setitem(sys.modules, "jax", jax)


def test_everything_that_a_step_returns_is_waited_for(run, caplog):
    made = []

    def step(_batch):
        made.append((Array(), {"loss": Array()}))
        return made[-1]

    run.probe.synthetic(step, 1, seconds=0.05)
    first_of_sizes = len(made)
    run.probe.batch(step, make_batch, [1, 2], seconds=0.1)

    for state, metrics in (made[0], made[first_of_sizes]):
        assert state.is_waited_for
        assert metrics["loss"].is_waited_for
    assert "JAX" not in caplog.text


def test_a_step_that_returns_nothing_is_told_of_once(run, caplog):
    for _ in range(2):
        run.probe.synthetic(lambda _batch: None, 1, seconds=0.05)
    run.probe.batch(lambda _: {"loss": object()}, make_batch, [1, 2], seconds=0.1)

    assert caplog.text.count("JAX") == 1


def test_a_number_was_waited_for_already(run, caplog):
    run.probe.synthetic(lambda _batch: {"loss": 0.5}, 1, seconds=0.05)

    assert "JAX" not in caplog.text


def test_a_step_on_a_gpu_of_pytorch_need_not_return_a_thing(run, caplog, monkeypatch):
    cuda = CudaDouble({0: 70})
    monkeypatch.setitem(sys.modules, "torch", TorchDouble(cuda))
    run.probe.synthetic(lambda _batch: None, 1, seconds=0.05)

    assert 0 in cuda.synchronized
    assert "JAX" not in caplog.text
