"""Captures installed distributions and the versions of imported frameworks."""

from __future__ import annotations

import re
import sys
import time
from types import ModuleType

from seamark.capture.facts import Facts
from seamark.lifecycle.background import importing

_MAX_PACKAGES = 5_000
_LONGEST_NAME = 200  # characters
_LONGEST_HEADER = 4_096  # characters
# Pauses regularly to release the GIL for the training.
_AT_ONCE = 10
_PAUSE_SECONDS = 0.001
# Only if the script has imported them: an import takes seconds and GPU memory.
_LOADED = (
    *("torch", "tensorflow", "jax", "numpy", "transformers", "lightning"),
    *("sklearn", "stable_baselines3", "ultralytics"),
)


def facts() -> Facts:
    """Return installed distributions, one per line, and versions of imported
    frameworks.
    """
    versions = installed()
    lines = [f"{name}=={version}" for name, version in versions.items()]
    found: Facts = {"count": len(lines), "list": "\n".join(lines)}
    for module in _LOADED:
        version = _version(sys.modules.get(module))
        if version is not None:
            found[f"loaded/{module}"] = version
    found.update(_of_torch(sys.modules.get("torch")))
    return found


def installed() -> dict[str, str]:
    """Return the versions of installed distributions by name, in Python's search order."""
    with importing():
        from importlib.metadata import distributions  # noqa: PLC0415 - not at import
    found: dict[str, str] = {}
    for number, distribution in enumerate(distributions()):
        if number >= _MAX_PACKAGES:
            break
        if number % _AT_ONCE == 0:
            time.sleep(_PAUSE_SECONDS)
        try:
            header = distribution.read_text("METADATA") or distribution.read_text(
                "PKG-INFO"
            )
        except Exception:  # noqa: BLE001 - a damaged installation must not hide others
            continue
        name, version = (_field(header or "", field) for field in _FIELDS)
        # The first one on the path is imported.
        if name and version:
            found.setdefault(name, version)
    return dict(sorted(found.items(), key=lambda item: item[0].casefold()))


_FIELDS = ("Name", "Version")


def _field(header: str, name: str) -> str | None:
    """Return a field of the metadata; a full parser takes ten times as long."""
    match = re.search(rf"^{name}:[ \t]*(.+)$", header[:_LONGEST_HEADER], re.M)
    return match[1].strip()[:_LONGEST_NAME] if match else None


def _version(module: ModuleType | None) -> str | None:
    version = getattr(module, "__version__", None)
    return None if version is None else str(version)[:_LONGEST_NAME]


def _of_torch(torch: ModuleType | None) -> Facts:
    # The CUDA or ROCm version of the build; a query would initialize the driver.
    built = getattr(torch, "version", None)
    found: Facts = {}
    for name, key in (("cuda", "cuda"), ("hip", "rocm")):
        version = getattr(built, name, None)
        if isinstance(version, str):
            found[f"loaded/{key}"] = version
    return found
