from types import SimpleNamespace

import pytest

from seamark.probes.probe import Job, ProbeUnavailable
from seamark.probes.process.torch_compile import TorchCompileProbe

COUNTING, FRAMES = "torch._dynamo.utils", "torch._dynamo.convert_frame"


def modules(attempts, **counters):
    return {
        COUNTING: SimpleNamespace(counters=counters),
        FRAMES: SimpleNamespace(FRAME_COMPILE_COUNTER=attempts),
    }


def test_what_was_compiled_more_than_once_was_recompiled():
    probe = TorchCompileProbe(
        modules({0: 1, 1: 4}, stats={"unique_graphs": 6}, graph_break={"a": 2, "b": 1})
    )

    assert probe.sample(0.0) == {
        "torch/compiled_graphs": 6,
        "torch/recompiles": 3,
        "torch/graph_breaks": 3,
    }
    assert probe.sample(1.0) == {}


@pytest.mark.parametrize(
    "loaded",
    [{}, modules({}), {COUNTING: SimpleNamespace(), FRAMES: None}],
    ids=["no PyTorch", "nothing compiled", "another version"],
)
def test_where_nothing_was_compiled_nothing_is_said(loaded):
    assert TorchCompileProbe(loaded).sample(0.0) == {}


def test_the_compiler_of_another_process_cannot_be_asked():
    with pytest.raises(ProbeUnavailable):
        TorchCompileProbe.of(Job(watched=1))
