"""What names of phases mean: scripts choose them, and rules must agree on them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar


class PhaseKind(StrEnum):
    COPY = "copy"  # to the GPU
    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    COMMUNICATE = "communicate"  # with other ranks
    EVALUATE = "evaluate"
    CHECKPOINT = "checkpoint"
    LOG = "log"
    LOAD_MODEL = "load_model"
    REQUEST = "request"  # of a service
    QUEUE = "queue"  # until a request gets its turn
    COMPUTE = "compute"  # of a service: one request or several together


NAMES: dict[PhaseKind, frozenset[str]] = {
    PhaseKind.COPY: frozenset({"copy", "copy_to_gpu", "h2d", "to_device", "transfer"}),
    PhaseKind.FORWARD: frozenset({"forward", "loss", "forward_pass"}),
    PhaseKind.BACKWARD: frozenset({"backward", "backward_pass"}),
    PhaseKind.OPTIMIZER: frozenset({"optimizer", "optimizer_step", "update"}),
    PhaseKind.COMMUNICATE: frozenset(
        {
            *("communicate", "communication", "comm", "all_reduce", "allreduce"),
            *("all_gather", "reduce_scatter", "sync_gradients", "barrier"),
        }
    ),
    PhaseKind.EVALUATE: frozenset(
        {"evaluate", "evaluation", "eval", "validate", "validation", "test"}
    ),
    PhaseKind.CHECKPOINT: frozenset(
        {"checkpoint", "save", "save_checkpoint", "save_model"}
    ),
    PhaseKind.LOG: frozenset({"log", "logging", "report"}),
    PhaseKind.LOAD_MODEL: frozenset({"load_model", "model_load", "load_weights"}),
    PhaseKind.REQUEST: frozenset({"request", "handle_request"}),
    PhaseKind.QUEUE: frozenset({"queue", "queued", "wait_for_turn"}),
    PhaseKind.COMPUTE: frozenset({"compute", "inference", "predict", "generate"}),
}
KINDS = {name: kind for kind, names in NAMES.items() for name in names}

# Of what a service does, outside of loops.
OF_SERVICES = frozenset(
    {PhaseKind.REQUEST, PhaseKind.QUEUE, PhaseKind.LOAD_MODEL, PhaseKind.COMPUTE}
)

T = TypeVar("T")


def kind_of_phase(name: str) -> PhaseKind | None:
    """Return what a phase is for; None of a name that is the script's own.

    Only what is before the first slash counts: `load_model/small` loads a model.
    """
    return KINDS.get(re.sub(r"[ .-]+", "_", name.partition("/")[0].strip().lower()))


def of_kind(phases: Mapping[str, T], kind: PhaseKind) -> dict[str, T]:
    """Return those phases that are of a kind."""
    return {
        name: phase for name, phase in phases.items() if kind_of_phase(name) is kind
    }
