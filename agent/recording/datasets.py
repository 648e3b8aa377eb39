"""Where a loader's dataset says that its files lie, so that their file system is told.

Only what objects and their classes hold is looked at: no code of theirs runs, and no disk
is asked.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any

# What datasets of torchvision, torchaudio, timm and many scripts call it.
_NAMES = ("root", "root_dir", "data_root", "data_dir", "data_path", "path", "folder")
# What wraps a dataset: loaders, subsets, those that join several.
_WRAPPED = ("dataset", "datasets")
_MAX_WRAPPERS = 6
_LONGEST = 4_096


def find_data_folder(loader: object) -> Path | None:
    """Return the folder or file that the loader's data come from, where one is named."""
    from inspect import getattr_static  # noqa: PLC0415 - dear, and few loaders come here

    # Any: whatever a stranger's loader wraps.
    inner: Any = loader
    for _ in range(_MAX_WRAPPERS):
        if inner is not loader:
            # Of the loader itself, such names would mean anything.
            for name in _NAMES:
                folder = _as_folder(getattr_static(inner, name, None))
                if folder is not None:
                    return folder
        wrapped = (getattr_static(inner, name, None) for name in _WRAPPED)
        inner = next((each for each in wrapped if each is not None), None)
        if type(inner) in (list, tuple):
            inner = next(iter(inner), None)
        if inner is None:
            return None
    return None


def _as_folder(value: object) -> Path | None:
    if type(value) is str:
        is_address = "://" in value or "\0" in value
        if not value or is_address or len(value) > _LONGEST:
            return None
    elif not isinstance(value, PurePath):
        return None
    try:
        return Path(os.path.abspath(value))  # noqa: PTH100 - links are not asked
    except (OSError, ValueError):
        return None
