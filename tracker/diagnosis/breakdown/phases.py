"""Maps the names of phases to kinds.

Names are chosen by users: `forward`, `Forward pass` and `train/fwd` have the same kind.
Rules ignore names without a known kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

import numpy as np

from tracker.diagnosis.engine.finding import MEASURED
from tracker.diagnosis.signals import Array, Samples


class PhaseKind(StrEnum):
    COPY = "copy"  # from host to device
    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    COMMUNICATE = "communicate"  # between GPUs
    LOG = "log"  # metrics, prints, progress
    EVALUATE = "evaluate"
    CHECKPOINT = "checkpoint"
    LOAD_MODEL = "load model"
    LOAD_DATA = "load data"  # scanning and indexing it, before the first batch
    DECODE = "decode"  # images, video and sound
    PREPROCESS = "preprocess"  # deterministic preprocessing; augmentation is not
    IMPORT = "import"
    COMPILE = "compile"
    REQUEST = "request"  # one request of a service
    QUEUE = "queue"  # waiting time of a request
    COMPUTE = "compute"  # inference for one or several requests


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of a name are joined by underscores. If a name contains several of these, the
# longest wins, then the first.
NAMES: dict[PhaseKind, frozenset[str]] = {
    PhaseKind.COPY: _words_of(
        "copy h2d to_device to_gpu to_cuda host_to_device transfer"
    ),
    PhaseKind.FORWARD: _words_of("forward fwd loss criterion"),
    PhaseKind.BACKWARD: _words_of("backward bwd backprop grad grads gradients"),
    PhaseKind.OPTIMIZER: _words_of(
        "optimizer optimiser optim optimize update scheduler zero_grad"
        " apply_gradients clip_grad clip_gradients"
    ),
    PhaseKind.COMMUNICATE: _words_of(
        "communicate communication comm nccl barrier broadcast all_reduce allreduce"
        " all_gather allgather all_to_all reduce_scatter grad_sync gradient_sync"
        " sync_grads sync_gradients"
    ),
    PhaseKind.LOG: _words_of(
        "log logging metric metrics print progress report track summary tensorboard"
    ),
    PhaseKind.EVALUATE: _words_of(
        "evaluate evaluation eval validate validation valid val test testing"
    ),
    PhaseKind.CHECKPOINT: _words_of(
        "checkpoint checkpointing ckpt save saving snapshot save_model save_checkpoint"
        " write_checkpoint"
    ),
    PhaseKind.LOAD_MODEL: _words_of(
        "load_model model_load model_loading load_weights load_checkpoint load_ckpt"
        " restore restore_checkpoint resume resume_checkpoint from_pretrained"
        " build_model create_model init_model"
    ),
    PhaseKind.LOAD_DATA: _words_of(
        "load_data load_dataset prepare_data build_dataset scan data_scan scan_data"
        " build_index data_setup setup_data"
    ),
    PhaseKind.DECODE: _words_of("decode decoding decompress decode_image decode_jpeg"),
    PhaseKind.PREPROCESS: _words_of(
        "preprocess preprocessing preprocess_data pre_process resize crop normalize"
        " normalise tokenize tokenise tokenization tokenizing"
    ),
    PhaseKind.IMPORT: _words_of("import imports import_modules"),
    PhaseKind.COMPILE: _words_of("compile compilation trace jit"),
    PhaseKind.REQUEST: _words_of("request requests serve"),
    PhaseKind.QUEUE: _words_of("queue queued queueing wait_for_turn"),
    PhaseKind.COMPUTE: _words_of("compute predict infer inference generate"),
}
MAX_WORDS = max(name.count("_") + 1 for names in NAMES.values() for name in names)

# Phases of a service, outside of loops.
OF_SERVICES = frozenset(
    {PhaseKind.REQUEST, PhaseKind.QUEUE, PhaseKind.LOAD_MODEL, PhaseKind.COMPUTE}
)

T = TypeVar("T")

WORD = re.compile(r"[a-z0-9]+")
# The position before a capitalized word, as in `saveCheckpoint`.
CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
LONGEST_NAME = 200


@lru_cache(maxsize=1024)
def kind_of_phase(name: str) -> PhaseKind | None:
    words = words_of(name[:LONGEST_NAME])
    for length in range(min(MAX_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            part = "_".join(words[start : start + length])
            for kind, names in NAMES.items():
                if part in names:
                    return kind
    return None


def of_kind(phases: Mapping[str, T], kind: PhaseKind) -> dict[str, T]:
    """Return the phases of a kind."""
    return {
        name: phase for name, phase in phases.items() if kind_of_phase(name) is kind
    }


def seconds_of_kind(
    phases: Mapping[str, Array], kind: PhaseKind, *more: PhaseKind
) -> Array | None:
    """Return the time of each step in all phases of these kinds; None without any.

    NaN stays NaN: if one phase is unknown, so is the sum.
    """
    wanted = (kind, *more)
    found = [phases[name] for name in phases if kind_of_phase(name) in wanted]
    return np.sum(found, axis=0) if found else None


def spans_of_kind(
    spans: Mapping[str, Samples], kind: PhaseKind, *more: PhaseKind
) -> Samples | None:
    """Return all spans of these kinds in order of their ends; None without any."""
    wanted = (kind, *more)
    found = [spans[name] for name in spans if kind_of_phase(name) in wanted]
    if not found:
        return None
    times = np.concatenate([span.times for span in found])
    values = np.concatenate([span.values for span in found])
    order = np.argsort(times, kind="stable")
    return Samples(times[order], values[order], MEASURED)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case: save, checkpoint of saveCheckpoint."""
    return WORD.findall(CAPITAL.sub(" ", name).lower())
