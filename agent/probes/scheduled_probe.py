"""Runs one probe: measures its cost, adapts its interval, handles failures."""

from __future__ import annotations

import contextlib
import logging
import math
import statistics
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from seamark.lifecycle.background import Background
from seamark.probes.logbook import Logbook
from seamark.probes.probe import Job, Kept, Probe, ProbeUnavailable
from seamark.user_warnings import Notices

logger = logging.getLogger(__name__)

_LONGEST_INTERVAL_SECONDS = 32.0
_FAILED_INTERVAL_SECONDS = 30.0
_FOR_EVER_SECONDS = 86_400.0
# Averaged, because turns differ in cost.
_COSTS = 10
# Longer than any successful call.
HANGING_SECONDS = 10.0
# After this many failures in a row, the probe is recreated.
_FAILURES_BEFORE_REMAKING = 3
MEASURED, SILENT = "measured", "does not answer"


class ScheduledProbe:
    """Creates a probe on its first turn, and runs it within its CPU limit."""

    def __init__(
        self, make: type[Probe], job: Job, logbook: Logbook, notices: Notices
    ) -> None:
        self.name = make.name
        self.seconds: float | None = None  # cost of the last turn, until it is reported
        self._make = make
        # A recreated probe continues with the kept state.
        self._job = replace(job, kept=Kept())
        self._logbook = logbook
        self._notices = notices
        self._probe: Probe | None = None
        self._is_done = False
        self._started_at: float | None = None
        self._not_before = float("-inf")
        self._costs: deque[float] = deque(maxlen=_COSTS)
        self._has_taken_turns = False
        self._failures = 0

    def take(self, now: float, number: int) -> None:
        """Run the probe if it is due, and log its results."""
        # Half an interval of tolerance: samples are never exactly on time.
        if self._is_done or now < self._not_before - self._logbook.interval / 2:
            return
        self._not_before = now + max(_FAILED_INTERVAL_SECONDS, self._logbook.interval)
        cpu, self._started_at = time.thread_time(), now
        try:
            readings = self._sample(now)
        except ProbeUnavailable as reason:
            self._be_unavailable(str(reason))
        except Exception as error:
            # Broad: drivers fail in unforeseeable ways, and the other probes must
            # continue.
            logger.debug("the probe %s failed", self.name, exc_info=True)
            self._fail(repr(error))
        else:
            self._failures = 0
            self.seconds = time.monotonic() - now
            # The first turn creates the probe, so its cost is not typical.
            if self._has_taken_turns:
                self._costs.append(time.thread_time() - cpu)
            self._has_taken_turns = True
            self._not_before = now + self._interval()
            self._log(readings, number)
        finally:
            self._started_at = None

    def rest(self, now: float) -> float:
        """Return the seconds until the next turn."""
        if self._is_done:
            return _FOR_EVER_SECONDS
        return max(self._logbook.interval, self._not_before - now)

    def watch(self, now: float) -> None:
        """Report a probe that hangs; called by another thread than the probe's."""
        started_at = self._started_at
        if started_at is not None and now > started_at + HANGING_SECONDS:
            self._state(SILENT)
            self._notices.warn(
                f"silent {self.name}",
                f"the probe {self.name} does not respond; other probes continue",
            )

    def close(self) -> None:
        """End the probe, unless it hangs; a second call does nothing."""
        if self._started_at is not None:
            return
        self._is_done = True
        self._close_probe()

    def _sample(self, now: float) -> Mapping[str, float]:
        if self._probe is None:
            self._probe = self._make.of(self._job)
            self._logbook.state(self._probe.facts())
        return self._probe.sample(now)

    def _log(self, readings: Mapping[str, float], number: int) -> None:
        assert self._probe is not None
        self._logbook.put(readings, number)
        self._logbook.describe(readings, self._probe)
        self._logbook.state(self._probe.news())
        self._state(MEASURED)

    def _be_unavailable(self, reason: str) -> None:
        if self._has_taken_turns and reason:
            # The driver may be loaded again.
            self._fail(reason)
            return
        self._is_done = True
        # Without a reason, nothing is missing.
        if reason:
            self._state(f"not here: {reason}")
            self._notices.inform(f"probe {self.name}", f"not measured: {reason}")

    def _fail(self, why: str) -> None:
        self._state(f"fails: {why}")
        self._notices.warn(
            f"probe {self.name}",
            f"the probe {self.name} fails ({why}); "
            f"retrying every {_FAILED_INTERVAL_SECONDS:.0f} s",
        )
        self._failures += 1
        if self._failures >= _FAILURES_BEFORE_REMAKING:
            self._failures = 0
            self._close_probe()

    def _close_probe(self) -> None:
        # Forgotten first: to free memory of a driver's library twice ends the process.
        probe, self._probe = self._probe, None
        if probe is not None:
            # Its resources may be gone already.
            with contextlib.suppress(Exception):
                probe.close()

    def _state(self, text: str) -> None:
        self._logbook.state({f"facts/probes/{self.name}": text})

    def _interval(self) -> float:
        """Return the interval that keeps the probe within its CPU limit, in seconds."""
        base = max(self._logbook.interval, self._make.interval_seconds)
        if not self._costs or self._probe is None:
            return base
        needed = statistics.fmean(self._costs) / self._probe.allowance
        longest = max(base, _LONGEST_INTERVAL_SECONDS)
        return min(longest, base * max(1, math.ceil(needed / base)))


class OwnThread:
    """Runs a probe that may block in a separate thread."""

    def __init__(self, probe: ScheduledProbe, logbook: Logbook) -> None:
        self.probe = probe
        self._logbook = logbook
        self._number = -1
        self._is_ending = False
        self.background = Background(f"seamark-{probe.name}", self._turn)

    def stop(self, seconds: float) -> None:
        self._is_ending = True
        if self.background.stop(seconds):
            self.probe.close()

    def _turn(self) -> float:
        now = time.monotonic()
        if self._logbook.is_open and not self._is_ending:
            self._number = self._logbook.number(now, self._number)
            self.probe.take(now, self._number)
        # No early wake-ups: each may interrupt the training.
        return max(0.0, now + self.probe.rest(now) - time.monotonic())
