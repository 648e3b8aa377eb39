"""Jobs that need a GPU: description and duration; without PyTorch.

Their code is in jobs/, one function each. No job emulates a device.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OnGpu:
    """How a job is run on one GPU; times in seconds."""

    seconds: float = 11.0  # duration of its loop
    # Until the loop begins: PyTorch and CUDA are loaded, sizes are tried.
    start_seconds: float = 12.0
    most_seconds: float = 70.0  # then it is ended
    sample_seconds: float = 1.0
    # The class of the error that the job is about, if any.
    fails_with: str = ""
    # Needs minutes for its rule: recorded only by name, or with --long.
    is_long: bool = False

    @property
    def planned_seconds(self) -> float:
        return self.start_seconds + self.seconds


OUT_OF_MEMORY = "OutOfMemoryError"

# Name, injected fault, expected rule, further correct rules, setup.
GPU_FAULTS = (
    (
        "tiny-batch",
        "a convolution net on batches of 4 images, on a GPU that could hold hundreds",
        "C8",
        ("C3",),
        OnGpu(),
    ),
    (
        "small-kernels",
        "a recurrent net: one small time step after the other, each launched by itself",
        "C8",
        ("C4", "C3"),
        OnGpu(),
    ),
    (
        "float32",
        "a transformer in float32, with PyTorch's defaults",
        "C6",
        (),
        OnGpu(),
    ),
    (
        "eager-overhead",
        "a narrow, deep transformer and an optimizer that goes through its parameters"
        " one by one: thousands of small operations a step",
        "C8",
        ("C3",),
        OnGpu(),
    ),
    (
        "item-each-step",
        "the loss and the norm of every gradient fetched with .item() at each step",
        "C10",
        (),
        OnGpu(),
    ),
    (
        "pageable-copies",
        "batches of 150 MB in float32 from pageable memory",
        "D11",
        (),
        OnGpu(),
    ),
    (
        "nearly-full",
        "a batch that fills 94 % of the memory",
        "M1",
        (),
        OnGpu(seconds=9.0, start_seconds=16.0),
    ),
    (
        "device-leak",
        "outputs of steps kept for a metric, with their graphs, until memory runs out",
        "M2",
        ("M6",),
        OnGpu(fails_with=OUT_OF_MEMORY),
    ),
    (
        "fragmentation",
        "images of another size at each step, the smallest first",
        "M3",
        (),
        OnGpu(start_seconds=20.0),
    ),
    (
        "out-of-memory",
        "sequences whose longest do not fit",
        "M6",
        ("M1",),
        OnGpu(seconds=8.0, fails_with=OUT_OF_MEMORY),
    ),
    (
        "copies-of-a-model",
        "a service of 4 processes on one GPU, each with the model",
        "M8",
        (),
        OnGpu(seconds=9.0, start_seconds=20.0),
    ),
    (
        "cpu-stage",
        "preprocessing on 3 cores while a GPU is reserved",
        "P1",
        (),
        OnGpu(seconds=63.0, start_seconds=5.0, most_seconds=90.0),
    ),
    (
        "slow-device-leak",
        "outputs of some steps kept for a metric, with their graphs, for 6 minutes",
        "M2",
        ("M1",),
        OnGpu(seconds=360.0, most_seconds=420.0, sample_seconds=4.0, is_long=True),
    ),
    (
        "idle-with-memory",
        "a notebook that trained for some seconds, holds its memory and waits",
        "M7",
        (),
        OnGpu(seconds=640.0, most_seconds=700.0, sample_seconds=4.0, is_long=True),
    ),
)

# Name, injected fault, rule, and the requirement beyond one GPU.
NOT_ON_ONE_GPU = (
    ("heat", "a card in hot air", "H1", "a card that may be heated"),
    ("power-cap", "a power limit below the maker's", "H2", "a card that may be set"),
    ("unused-gpu", "2 GPUs visible, one used", "G1", "2 GPUs"),
    ("data-parallel", "nn.DataParallel over 2 GPUs", "G5", "2 GPUs"),
)

# Without a fault.
GPU_HEALTHY = (
    (
        "gpu-large-model",
        "a large transformer in bfloat16 that keeps the GPU full",
        OnGpu(),
    ),
    (
        "gpu-convolutions",
        "a wide convolution net with AMP, and 3 workers with pinned memory",
        OnGpu(),
    ),
    (
        "gpu-fine-tuning",
        "a transformer as large as those that are fine-tuned, and a usual loader",
        OnGpu(),
    ),
    (
        "gpu-checkpoints",
        "short evaluations between epochs, and checkpoints",
        OnGpu(seconds=13.0),
    ),
)
