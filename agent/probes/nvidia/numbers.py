"""The driver's numbers of GPUs, for whoever knows them by their ids alone."""

from __future__ import annotations

import logging
import threading

from seamark.probes.nvidia.driver import all_gpus, begin, load_library, uuid_of

logger = logging.getLogger(__name__)

_AGAIN_SECONDS = 60.0


class Numbers:
    """Asks the driver in a thread of its own: it may hang, and nobody waits for it.

    So it does in a process in which nothing else asks the driver.
    """

    def __init__(self) -> None:
        # The driver may have refused, too.
        self.has_answered = False
        self._by_id: dict[str, int] = {}
        self._thread: threading.Thread | None = None
        self._not_before = float("-inf")

    def of(self, uuid: str, now: float) -> int | None:
        """Return the number of a GPU; None if the driver has not told it yet."""
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
            # The interpreter is ending and accepts no more threads.
            return
        self._thread = thread

    def _run(self) -> None:
        try:
            self._by_id = _numbers_by_id()
        except Exception:
            # The rim of the thread: drivers fail in ways that nobody has listed.
            logger.debug("the driver does not number its GPUs", exc_info=True)
        self.has_answered = True


def _numbers_by_id() -> dict[str, int]:
    library = load_library()
    begin(library)
    gpus = all_gpus(library).handles
    ids = {index: uuid_of(library, gpu) for index, gpu in gpus.items()}
    return {plain(uuid): index for index, uuid in ids.items() if uuid is not None}


def plain(uuid: str) -> str:
    """Return an id as CUDA and the driver both may write it."""
    return uuid.removeprefix("GPU-").lower()
