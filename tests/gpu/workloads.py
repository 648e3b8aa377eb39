"""GPU workloads of a known kind and duration."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

from tests.gpu.card import DEVICE, torch

Work = Callable[[], object]

# Calls launched between two synchronizations.
_CALLS = 8
_WARM_UP_CYCLES = 200_000_000
_TRIED_CYCLES = 50_000_000
PRODUCT_SIZE = 8192
COPIED_BYTES = 2**28


class Stopwatch:
    """GPU time of the block, from CUDA events around it on a stream."""

    def __init__(self) -> None:
        self._began = torch.cuda.Event(enable_timing=True)
        self._ended = torch.cuda.Event(enable_timing=True)

    def __enter__(self) -> Stopwatch:
        self._began.record()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.record()

    @property
    def is_passed(self) -> bool:
        """Return whether the GPU has finished the block, without waiting."""
        return self._ended.query()

    @property
    def seconds(self) -> float:
        self._ended.synchronize()
        return self._began.elapsed_time(self._ended) / 1000


class Busy:
    """Repeats work in a separate thread until the block ends."""

    def __init__(self, work: Work) -> None:
        self.calls = 0
        self._work = work
        self._is_over = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._repeat)

    def __enter__(self) -> Busy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _repeat(self) -> None:
        try:
            # Each thread sets its own stream.
            with torch.cuda.device(DEVICE):
                while not self._is_over:
                    for _ in range(_CALLS):
                        self._work()
                    torch.cuda.synchronize()
                    self.calls += _CALLS
        except Exception as error:  # noqa: BLE001 - raised where the block ends
            self._error = error


def occupy(milliseconds: float) -> None:
    """Launch one small kernel with about this duration."""
    torch.cuda._sleep(int(milliseconds * _cycles_of_millisecond()))


@cache
def _cycles_of_millisecond() -> float:
    # The clock is low while the GPU is idle.
    torch.cuda._sleep(_WARM_UP_CYCLES)
    with Stopwatch() as watch:
        torch.cuda._sleep(_TRIED_CYCLES)
    return _TRIED_CYCLES / (1000 * watch.seconds)


def product(dtype: torch.dtype) -> Work:
    """Return a function that multiplies two large matrices."""
    shape = PRODUCT_SIZE, PRODUCT_SIZE
    left, right = (torch.randn(shape, device=DEVICE, dtype=dtype) for _ in range(2))
    result = torch.empty_like(left)
    return lambda: torch.mm(left, right, out=result)


def copy_on_card() -> Work:
    """Return a function that copies within the card's memory."""
    source = torch.ones(COPIED_BYTES, dtype=torch.uint8, device=DEVICE)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def copy_to_card() -> Work:
    """Return a function that copies COPIED_BYTES from pinned host memory to the card."""
    source = torch.ones(COPIED_BYTES, dtype=torch.uint8, pin_memory=True)
    target = torch.empty_like(source, device=DEVICE)
    return lambda: target.copy_(source, non_blocking=True)
