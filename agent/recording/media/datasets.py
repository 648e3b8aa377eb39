"""Finds the folder of a loader's dataset, so that its file system can be reported.

Reads only attributes that objects and their classes hold: runs none of their code and
does not access the disk.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any

# Attribute names used by torchvision, torchaudio, timm and many scripts.
_NAMES = ("root", "root_dir", "data_root", "data_dir", "data_path", "path", "folder")
# Attributes by which loaders, subsets and concatenations hold a dataset.
_WRAPPED = ("dataset", "datasets")
_MAX_WRAPPERS = 6
_LONGEST = 4_096


def find_data_folder(loader: object) -> Path | None:
    """Return the folder or file of the loader's data; None if no attribute names one."""
    from inspect import getattr_static  # noqa: PLC0415 - slow to import, and seldom needed

    # Any: loaders and datasets of any type.
    inner: Any = loader
    for _ in range(_MAX_WRAPPERS):
        if inner is not loader:
            # On the loader itself such names are ambiguous.
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
        return Path(os.path.abspath(value))  # noqa: PTH100 - does not resolve links
    except (OSError, ValueError):
        return None
