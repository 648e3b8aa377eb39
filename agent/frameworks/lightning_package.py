"""Lightning's classes, from the package that the script uses.

There are two packages, which reject each other's classes.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec


def _is_lightning_meant() -> bool:
    """Return whether to use `lightning`: imported, or else installed."""
    for name in ("lightning", "pytorch_lightning"):
        if name in sys.modules:
            return name == "lightning"
    return find_spec("lightning") is not None


if _is_lightning_meant():
    from lightning.pytorch import Trainer
    from lightning.pytorch.callbacks import Callback
    from lightning.pytorch.loggers.logger import Logger, rank_zero_experiment
    from lightning.pytorch.profilers import PassThroughProfiler, Profiler
    from lightning.pytorch.utilities import rank_zero_only
else:
    from pytorch_lightning import Trainer
    from pytorch_lightning.callbacks import Callback
    from pytorch_lightning.loggers.logger import Logger, rank_zero_experiment
    from pytorch_lightning.profilers import PassThroughProfiler, Profiler
    from pytorch_lightning.utilities import rank_zero_only

__all__ = [
    "Callback",
    "Logger",
    "PassThroughProfiler",
    "Profiler",
    "Trainer",
    "rank_zero_experiment",
    "rank_zero_only",
]
