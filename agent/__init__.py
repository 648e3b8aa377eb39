"""Seamark's agent: logs a training run and the hardware under it.

import agent

run = agent.init("baseline", project="digits", stage="train")
for batch in run.loader(batches):
    ...
    run["train/loss"].append(loss)
"""

from agent.api import init, open_run, runs
from agent.attribute import Attribute
from agent.contents import File, Image
from agent.errors import (
    AgentError,
    CannotRead,
    InvalidPath,
    InvalidSetting,
    NotStored,
    RunFinished,
    TooManyAttributes,
    TypeConflict,
    UnsupportedValue,
)
from agent.histogram import Histogram
from agent.run import Run

__all__ = [
    "AgentError",
    "Attribute",
    "CannotRead",
    "File",
    "Histogram",
    "Image",
    "InvalidPath",
    "InvalidSetting",
    "NotStored",
    "Run",
    "RunFinished",
    "TooManyAttributes",
    "TypeConflict",
    "UnsupportedValue",
    "init",
    "open_run",
    "runs",
]
