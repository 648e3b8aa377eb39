"""Seamark's agent: logs a training run and the hardware under it.

import agent

run = agent.init("baseline", project="digits", stage="train")
for batch in run.loader(batches):
    ...
    run["train/loss"].append(loss)

`import seamark as agent` gives the same, also next to an `agent.py` of your own.
"""

from seamark.api import init, open_run, runs
from seamark.attribute import Attribute
from seamark.errors import (
    AgentError,
    CannotRead,
    InvalidPath,
    InvalidSetting,
    NotStored,
    Rejected,
    RunClosed,
    RunFinished,
    TooManyAttributes,
    TypeConflict,
    UnsupportedValue,
)
from seamark.recording.file_contents import File
from seamark.recording.media.curves import confusion_matrix, pr_curve, roc_curve
from seamark.recording.media.histogram import Histogram
from seamark.recording.media.media import Html, Image
from seamark.recording.media.point_clouds import PointCloud
from seamark.recording.media.sounds import Audio, Video
from seamark.recording.media.tables import Table
from seamark.run import Run

__all__ = [
    "AgentError",
    "Attribute",
    "Audio",
    "CannotRead",
    "File",
    "Histogram",
    "Html",
    "Image",
    "InvalidPath",
    "InvalidSetting",
    "NotStored",
    "PointCloud",
    "Rejected",
    "Run",
    "RunClosed",
    "RunFinished",
    "Table",
    "TooManyAttributes",
    "TypeConflict",
    "UnsupportedValue",
    "Video",
    "confusion_matrix",
    "init",
    "open_run",
    "pr_curve",
    "roc_curve",
    "runs",
]

if __name__ == "agent":
    # This folder is the package `seamark`, and `agent` is a second name for it. The
    # submodules of the second name re-export those of the first, so that no module runs
    # twice and there is one copy of all state.
    __path__ = [f"{folder}/alias" for folder in __path__]
