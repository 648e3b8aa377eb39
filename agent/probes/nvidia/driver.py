"""NVIDIA's management library (NVML): loading, error handling, listing GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from seamark.lifecycle.background import importing
from seamark.lifecycle.driver_calls import DriverLibrary
from seamark.probes.probe import ProbeUnavailable

Answer = TypeVar("Answer")

# Error codes of the library, the same in all versions.
INVALID_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION = 2, 3, 4
_FUNCTION_NOT_FOUND, _VERSION_MISMATCH, _DEPRECATED = 13, 25, 26
_UNINITIALIZED, _DRIVER_NOT_LOADED = 1, 9
_GPU_IS_LOST, _RESET_REQUIRED, _GPU_NOT_FOUND = 15, 16, 28
TIMEOUT, NOT_FOUND = 10, 6

# Errors that a repeated call would return again.
_REFUSED = (
    INVALID_ARGUMENT,
    NOT_SUPPORTED,
    _FUNCTION_NOT_FOUND,
    _VERSION_MISMATCH,
    _DEPRECATED,
)
_LOST = (_GPU_IS_LOST, _RESET_REQUIRED, _GPU_NOT_FOUND)
_GONE = (_UNINITIALIZED, _DRIVER_NOT_LOADED)


class NotOffered(Exception):
    """This GPU, driver or binding never supports the query."""


class NotPermitted(NotOffered):
    """This user may not make the query."""


class NotNow(Exception):
    """The query failed this time."""


class GpuLost(Exception):
    """The GPU is gone, or must be reset."""


class DriverGone(Exception):
    """The driver was unloaded; the library must be initialized again."""


# Any: the library is loaded only if it is installed, and has no types.
def load_library() -> Any:
    try:
        with importing():
            import pynvml  # noqa: PLC0415
    except ImportError as error:
        raise ProbeUnavailable("nvidia-ml-py is not installed") from error
    return DriverLibrary(pynvml, "nvml")


def begin(library: Any) -> None:
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        raise ProbeUnavailable(f"no NVIDIA driver ({error})") from error


def code_of(error: Exception) -> int | None:
    code = getattr(error, "value", None)
    return code if isinstance(code, int) else None


def ask(library: Any, call: Callable[[], Answer]) -> Answer:
    """Call the library, and convert its errors to the exceptions above."""
    try:
        return call()
    except AttributeError as error:
        # An older binding has no such function.
        raise NotOffered(str(error)) from error
    except getattr(library, "NVMLLibraryMismatchError", library.NVMLError) as error:
        raise refusal(error) from error
    except library.NVMLError as error:
        raise refusal(error) from error


def refusal(error: Exception) -> Exception:
    code = code_of(error)
    if code == NO_PERMISSION:
        return NotPermitted(str(error))
    if code is None or code in _REFUSED:
        # An error without a code: the binding is newer than the driver.
        return NotOffered(str(error))
    if code in _LOST:
        return GpuLost(str(error))
    return DriverGone(str(error)) if code in _GONE else NotNow(str(error))


class Gpus(NamedTuple):
    """The machine's GPUs by index: handles, and the errors of unavailable ones."""

    handles: dict[int, Any]
    absent: dict[int, Exception]


def all_gpus(library: Any) -> Gpus:
    """List the machine's GPUs, without those that this user may not access."""
    count = library.nvmlDeviceGetCount()
    found = {index: _handle_or_reason(library, index) for index in range(count)}
    reasons = {i: why for i, why in found.items() if isinstance(why, Exception)}
    gpus = Gpus(
        {i: handle for i, handle in found.items() if i not in reasons},
        {i: why for i, why in reasons.items() if not isinstance(why, NotPermitted)},
    )
    if count and not any(gpus):
        raise ProbeUnavailable(
            f"the NVIDIA driver gives access to none of {count} GPUs"
        )
    return gpus


def _handle_or_reason(library: Any, index: int) -> Any:
    try:
        return library.nvmlDeviceGetHandleByIndex(index)
    except library.NVMLError as error:
        return refusal(error)


def uuid_of(library: Any, gpu: Any) -> str | None:
    """Return a GPU's UUID; None if the query fails, because the GPU is lost or faulty."""
    try:
        return as_text(library.nvmlDeviceGetUUID(gpu))
    except library.NVMLError:
        return None


def as_text(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text
