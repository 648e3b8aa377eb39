"""The line of code, command or advice that supplies a missing input of a rule.

A missing input is the name of a signal, or a text such as "at least 50 steps". A test
checks that each input that a rule can lack is in one of these tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracker.diagnosis.signals import SIGNALS
from tracker.diagnosis.signals.signal import FLOPS, INIT, LOADER, LOSS, REQUEST

MONITOR = "SEAMARK_MONITOR=yes python train.py"
IN_CONTAINER = "docker run --gpus all"
CONTROL_GROUP = "docker run --volume /sys/fs/cgroup:/sys/fs/cgroup:ro"
TORCHRUN = "torchrun --nproc-per-node=8 train.py"
# They bring back samples that the agent takes by itself.
OF_SAMPLES = frozenset({MONITOR, IN_CONTAINER, CONTROL_GROUP})
TRACE = "seamark import trace FILE"
STATUS = "seamark status"


@dataclass(frozen=True, slots=True)
class Supply:
    """`code` is a line of code or a command; `advice` is a sentence. One of them is set."""

    code: str = ""
    advice: str = ""


def _phase(name: str) -> Supply:
    return Supply(f'with run.phase("{name}"):')


# Signals that the agent samples by itself, by the start of their names; the first match
# counts.
_SAMPLED = (
    (
        r"gpu_(sm|tensor|dram|fp\d+)_(active|occupancy)",
        Supply(advice="Use a GPU of the Hopper generation or later; others lack it."),
    ),
    (r"gpu_allocator_", Supply(advice="Only PyTorch reports it.")),
    (r"(earlier|same_stage)_runs", Supply(advice="Run it again in this project.")),
    (r"gap_before_stage", Supply(advice="Log the earlier stage in the same run.")),
    (r"out_of_memory_|failure_", Supply(advice="Let the exception end the script.")),
    (r"workers?_", Supply("loader = DataLoader(dataset, num_workers=4)")),
    (r"gpus?(_|$)|busiest_gpu", Supply(IN_CONTAINER)),
    (r"cgroup_", Supply(CONTROL_GROUP)),
    (r"\w+_pressure_share", Supply(advice="Boot Linux with psi=1.")),
    (r"", Supply(MONITOR)),
)

# Texts of rules and of the engine.
_TEXTS = (
    (
        r"60 seconds, or 50 steps and 5 seconds",
        Supply(advice="Let the stage run for a minute, or for 50 steps."),
    ),
    (r".*saving, as a phase", _phase("checkpoint")),
    (r".*communication, as a phase", _phase("communicate")),
    (r".*copy to the GPU, as a phase", _phase("copy")),
    (r".*decoding, as a phase", _phase("decode")),
    (r".*evaluation( between epochs)?, as a phase", _phase("evaluate")),
    (r".*logging and printing, as a phase", _phase("log")),
    (r".*loading models, as a phase", _phase("load_model")),
    (r".*preprocessing, as a phase", _phase("preprocess")),
    (r".*backward pass, as a phase", _phase("backward")),
    (
        r".*queue and compute within a request, as phases",
        Supply('with run.phase("queue"):  # and "compute"'),
    ),
    (r"at least \d+ requests", Supply(REQUEST)),
    (r"a loss of at least|.* values of a loss", Supply(LOSS)),
    (r"a loss and counted examples", Supply(LOSS)),
    (r"a loss over at least an hour", Supply(advice="Train for at least an hour.")),
    (r"at least \d+ steps of all ranks", Supply(LOADER)),
    (r"at least \d+ steps", Supply(advice="Log more steps.")),
    (
        r"(at least \d+ )?samples",
        Supply(advice="Let the stage run longer; samples are taken every second."),
    ),
    (r"two whole epochs", Supply(advice="Train for two epochs of equal length.")),
    (r"\d+ earlier runs", Supply(advice="Run it again in this project.")),
    (r"runs of comparable length", Supply(advice="Train both runs for equally long.")),
    (r"samples of the last minute", Supply(STATUS)),
    (
        r"five minutes without a step",
        Supply(advice="Wait; after five minutes it is reported as a hang."),
    ),
    (
        r"a host whose cores are not taken",
        Supply(
            advice="Run it on an idle machine, or reserve cores, for example with"
            " docker run --cpuset-cpus."
        ),
    ),
    (
        r"a GPU that is busy",
        Supply(advice="Give the GPU more work, for example with a larger batch."),
    ),
    (
        r"a GPU whose clocks are not limited",
        Supply(advice="Fix the limit first: see the findings about heat and power."),
    ),
    (
        r"steps that do not wait for data",
        Supply(advice="Fix the wait for data first: see its finding."),
    ),
    (r"three busy GPUs of the same model|GPUs of one kind|two GPUs", Supply(TORCHRUN)),
    (r"a process for each GPU", Supply(TORCHRUN)),
    (
        r"the memory use that \w+ itself reports",
        Supply(advice="Only PyTorch reports it."),
    ),
    (
        r"the peak of a ",
        Supply(advice="Add the GPU to tracker/diagnosis/hardware/peaks.py."),
    ),
    (r"operations per example", Supply(FLOPS)),
    (r"traced steps", Supply(TRACE)),
    (
        r"a table of drivers",
        Supply(advice="Update Seamark; its table ends before this version."),
    ),
    (r"a model that is not in shards", Supply(advice="FSDP already avoids copies.")),
    (
        r"a stage that is not a service",
        Supply(advice="See the check for services that are idle."),
    ),
)


def supply_of(lack: str) -> Supply | None:
    """Return what supplies a missing input; None if the text is not in the tables."""
    signal = SIGNALS.get(lack)
    if signal is None:
        return _first(_TEXTS, lack)
    # A stage exists because its script has called agent.init.
    return _first(_SAMPLED, lack) if signal.code == INIT else Supply(signal.code)


def _first(table: tuple[tuple[str, Supply], ...], text: str) -> Supply | None:
    return next((supply for start, supply in table if re.match(start, text)), None)
