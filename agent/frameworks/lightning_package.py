"""Lightning's classes, from whichever of its two packages the script uses.

Both are in use; the classes of one are refused by the other.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec


def _is_lightning_meant() -> bool:
    """Whether it is `lightning`, not `pytorch_lightning`: imported, or else installed."""
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
