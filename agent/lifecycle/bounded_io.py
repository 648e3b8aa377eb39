"""Runs blocking I/O with a timeout."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


def within(
    seconds: float,
    make: Callable[[], Made],
    unmake: Callable[[Made], None] = lambda _: None,
) -> Made:
    """Return the result of `make`, run in a thread; TimeoutError after `seconds`.

    A late result is passed to `unmake` by that thread. Exceptions of `make` are raised.
    """
    making = _Making(make, unmake)
    thread = threading.Thread(target=making.run, name="seamark-opener", daemon=True)
    try:
        thread.start()
    except (RuntimeError, MemoryError):
        # The interpreter is shutting down and accepts no threads, or memory is full.
        making.run()
    return making.result(seconds)


class _Making(Generic[Made]):
    def __init__(
        self, make: Callable[[], Made], unmake: Callable[[Made], None]
    ) -> None:
        self._make = make
        self._unmake = unmake
        self._is_done = threading.Event()
        self._deciding = threading.Lock()
        self._is_late = False
        self._made: list[Made] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            made = self._make()
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            self._error = error
            self._is_done.set()
            return
        with self._deciding:
            is_late = self._is_late
            self._made.append(made)
            self._is_done.set()
        if is_late:
            self._unmake(made)

    def result(self, seconds: float) -> Made:
        try:
            self._is_done.wait(seconds)
        except BaseException:
            # For example KeyboardInterrupt while waiting.
            self._give_up()
            raise
        if self._give_up_unless_done():
            raise TimeoutError(f"no answer within {seconds:g} s")
        if self._error is not None:
            raise self._error
        return self._made[0]

    def _give_up(self) -> None:
        if not self._give_up_unless_done():
            for made in self._made:
                self._unmake(made)

    def _give_up_unless_done(self) -> bool:
        with self._deciding:
            self._is_late = not self._is_done.is_set()
            return self._is_late
