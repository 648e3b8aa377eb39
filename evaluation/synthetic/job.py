"""Parameters of a job of the corpus: all numbers that a fault may change."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from random import Random


@dataclass(frozen=True, slots=True)
class Job:
    """Times in seconds, per mini-batch or step unless stated otherwise.

    "Device" is an emulated accelerator: the process sleeps instead of computing. No GPU
    samples are made up for it.
    """

    kind: str = "train"  # or "serve"
    seconds: float = 20.0  # the whole loop
    batch_size: int = 32

    # The loader: per mini-batch, in whichever process prepares it.
    workers: int = 2  # 0: the training process prepares
    loads_in_threads: bool = False  # instead of processes
    prefetch: int = 2  # mini-batches ahead, of each worker
    restarts_workers: bool = False  # at each epoch, with `spawn`
    prepare_cpu: float = 0.003
    prepare_sleep: float = 0.0
    prepare_threads: int = 1  # each spends `prepare_cpu`
    prepare_spread: float = 0.1  # variation of the preparation between mini-batches
    slow_every: int = 0  # mini-batches
    slow_factor: float = 1.0
    files: int = 0  # read of each mini-batch
    file_bytes: int = 4096
    files_there: int = 4000
    remote: float = 0.0  # delay of each read, from a FUSE file system
    cold: str = "never"  # "always", "first epoch"

    # The step.
    device: float = 0.030
    device_spread: float = 0.02
    step_cpu: float = 0.001
    growth: float = 0.0  # increase of the step's time until the end of the loop
    log: float = 0.0  # in the phase `log`
    stall_every: int = 0  # steps
    stall: float = 0.0
    checkpoint_every: int = 0  # steps
    checkpoint: float = 0.0
    checkpoint_bytes: int = 1 << 20
    leak_bytes: int = 0
    learning_rate: float = 0.05

    # Epochs, and work between them.
    epoch_steps: int = 100_000
    evaluate: float = 0.0  # at each epoch's end
    start: float = 0.0  # before the first step
    start_phase: str = "load_data"
    allocates_bytes: int = 0  # at the start, and kept

    # Processes.
    ranks: int = 1
    slow_rank: int = -1
    slow_rank_factor: float = 1.0
    gap: float = 0.0  # between a short first stage and this one

    # Serving: per request.
    load_model: float = 1.0
    loads_per_request: bool = False
    loads_in_first_request: bool = False  # instead of before it
    first_request_factor: float = 1.0

    # The environment set up by record.py.
    sample_seconds: float = 1.0  # long recordings are kept small by fewer readings
    quota_cores: float = 0.0  # 0: none
    neighbors: int = 0  # processes next to it that compute all the time

    def varied(self, seed: int) -> Job:
        """Return the same fault at another size: seed 1 is as written."""
        if seed == 1:
            return self
        random = Random(f"{seed} {self.described()}")
        scale = random.choice([0.7, 0.85, 1.2, 1.4])
        times = {name: getattr(self, name) * scale for name in _SCALED}
        return replace(
            self,
            batch_size=random.choice([16, 32, 64]),
            **times,
            # The duration of remote reads is scaled already.
            files=self.files if self.remote else round(self.files * scale),
        )

    def described(self) -> dict[str, object]:
        """Return the parameters that differ from an ordinary job."""
        usual = Job()
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != getattr(usual, field.name)
        }


_SCALED = (
    *("prepare_cpu", "prepare_sleep", "remote", "device", "step_cpu"),
    *("log", "stall", "checkpoint", "evaluate"),
)
