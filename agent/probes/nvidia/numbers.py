"""Looks up the driver's index of GPUs known only by UUID."""

from __future__ import annotations

import logging
import threading

from seamark.probes.nvidia.driver import all_gpus, begin, load_library, uuid_of

logger = logging.getLogger(__name__)

_AGAIN_SECONDS = 60.0


class Numbers:
    """Queries the driver in a separate thread, because it may hang.

    Used in processes that make no other driver queries.
    """

    def __init__(self) -> None:
        # Also true if the driver returned an error.
        self.has_answered = False
        self._by_id: dict[str, int] = {}
        self._thread: threading.Thread | None = None
        self._not_before = float("-inf")

    def of(self, uuid: str, now: float) -> int | None:
        """Return the index of a GPU; None if it is not known yet."""
        number = self._by_id.get(plain(uuid))
        if number is None and now >= self._not_before:
            self._ask(now)
        return number

    def _ask(self, now: float) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        self._not_before = now + _AGAIN_SECONDS
        thread = threading.Thread(
            target=self._run, name="seamark-gpu-numbers", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            # The interpreter is shutting down and accepts no threads.
            return
        self._thread = thread

    def _run(self) -> None:
        try:
            self._by_id = _numbers_by_id()
        except Exception:
            # Broad: drivers fail in unforeseeable ways.
            logger.debug("the driver does not number its GPUs", exc_info=True)
        self.has_answered = True


def _numbers_by_id() -> dict[str, int]:
    library = load_library()
    begin(library)
    gpus = all_gpus(library).handles
    ids = {index: uuid_of(library, gpu) for index, gpu in gpus.items()}
    return {plain(uuid): index for index, uuid in ids.items() if uuid is not None}


def plain(uuid: str) -> str:
    """Return a UUID in a form common to CUDA and the driver."""
    return uuid.removeprefix("GPU-").lower()
