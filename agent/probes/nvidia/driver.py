"""NVIDIA's management library: loading it, what its errors mean, which GPUs there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from seamark.lifecycle.background import importing
from seamark.probes.probe import ProbeUnavailable

Answer = TypeVar("Answer")

# Codes of the library, the same in all its versions.
INVALID_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION = 2, 3, 4
_FUNCTION_NOT_FOUND, _VERSION_MISMATCH, _DEPRECATED = 13, 25, 26
_UNINITIALIZED, _DRIVER_NOT_LOADED = 1, 9
_GPU_IS_LOST, _RESET_REQUIRED, _GPU_NOT_FOUND = 15, 16, 28
TIMEOUT, NOT_FOUND = 10, 6

# Will be answered the same the next time.
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
    """This GPU, driver or binding will never answer this."""


class NotPermitted(NotOffered):
    """This user may not ask for it."""


class NotNow(Exception):
    """It did not answer this time."""


class GpuLost(Exception):
    """The GPU has left, or must be reset."""


class DriverGone(Exception):
    """The driver was unloaded; the library must be set up anew."""


# Any: the library is loaded only where there is one, and has no types.
def load_library() -> Any:
    try:
        with importing():
            import pynvml  # noqa: PLC0415
    except ImportError as error:
        raise ProbeUnavailable("nvidia-ml-py is not installed") from error
    return pynvml


def begin(library: Any) -> None:
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        raise ProbeUnavailable(f"no NVIDIA driver ({error})") from error


def code_of(error: Exception) -> int | None:
    code = getattr(error, "value", None)
    return code if isinstance(code, int) else None


def ask(library: Any, call: Callable[[], Answer]) -> Answer:
    """Call the library, and turn its errors into what can be done about them."""
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
        # Without a code: the binding is newer than the driver.
        return NotOffered(str(error))
    if code in _LOST:
        return GpuLost(str(error))
    return DriverGone(str(error)) if code in _GONE else NotNow(str(error))


class Gpus(NamedTuple):
    """The machine's GPUs by their number: handles, and why there is none of others."""

    handles: dict[int, Any]
    absent: dict[int, Exception]


def all_gpus(library: Any) -> Gpus:
    """Find the machine's GPUs; those that are forbidden to us are somebody else's."""
    count = library.nvmlDeviceGetCount()
    found = {index: _handle_or_reason(library, index) for index in range(count)}
    reasons = {i: why for i, why in found.items() if isinstance(why, Exception)}
    gpus = Gpus(
        {i: handle for i, handle in found.items() if i not in reasons},
        {i: why for i, why in reasons.items() if not isinstance(why, NotPermitted)},
    )
    if count and not any(gpus):
        raise ProbeUnavailable(f"NVIDIA's driver lets us have none of {count} GPUs")
    return gpus


def _handle_or_reason(library: Any, index: int) -> Any:
    try:
        return library.nvmlDeviceGetHandleByIndex(index)
    except library.NVMLError as error:
        return refusal(error)


def uuid_of(library: Any, gpu: Any) -> str | None:
    """Return a GPU's id; None while it does not tell, because it is lost or sick."""
    try:
        return as_text(library.nvmlDeviceGetUUID(gpu))
    except library.NVMLError:
        return None


def as_text(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text
