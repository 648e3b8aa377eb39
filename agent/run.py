"""The Run class, the handle of a training script to its run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from seamark.attribute import Attribute
from seamark.errors import AgentError, InvalidSetting, RunFinished
from seamark.handles import handle_of, settings_of
from seamark.lifecycle import process_hooks
from seamark.lifecycle.background import importing, own_threads
from seamark.lifecycle.console_lines import pending_line, write_line
from seamark.lifecycle.post_mortem import examine
from seamark.recording.attributes import Recorder
from seamark.recording.loader import Loader
from seamark.recording.path_types import LARGEST_RUN
from seamark.recording.phases import Phase
from seamark.recording.steps import Steps
from seamark.recording.tags import Tags
from seamark.settings import Mode, Settings, end_of
from seamark.user_warnings import Notices

if TYPE_CHECKING:
    from seamark.lifecycle.session import Session
    from seamark.trials.trials import Trials

Batch = TypeVar("Batch")

_PAUSE_SECONDS = 0.01


class Run:
    """One execution of a training program, as seen by this process.

    Created by `agent.init`. All methods are thread-safe and never wait for the network;
    they raise errors only in strict runs.
    """

    def __init__(self, settings: Settings, *, url: str | None = None) -> None:
        self.settings = settings
        self._notices = Notices()
        self._recorder = Recorder(
            self._notices,
            wake=self._wake,
            strict=settings.strict,
            resumed_at=settings.resumed_at,
            prefix=settings.own_prefix,
            first_step=settings.first_step,
        )
        self._attributes: dict[str, Attribute] = {}
        # For framework integrations; scripts use `loader` and `phase`.
        self.steps = Steps(self._recorder, settings.namespace)
        self._session: Session | None = None
        self._starting = threading.Lock()
        self._failure: str | None = None
        self._exit_failure: str | None = None
        self._is_preempted = False
        self._ended_at: int | None = None
        self._url = url
        self._made_at = time.time_ns() // 1000
        self._id = ""
        self._is_finished = False
        self.tags = Tags(self._recorder)

    @property
    def name(self) -> str:
        """The run's name; every process that uses it joins the same run."""
        return self.settings.run

    @property
    def project(self) -> str:
        """The run's project."""
        return self.settings.project

    @property
    def stage(self) -> str:
        """The part of the run that this process is."""
        return self.settings.stage

    @property
    def rank(self) -> int:
        """The rank of this process in a distributed run."""
        return self.settings.rank

    @property
    def url(self) -> str | None:
        """The URL of the run's page.

        None if the run is offline or disabled, or no server is configured.
        """
        return self._url

    @property
    def id(self) -> str | None:
        """The run's id on the server, as accepted by `agent.open_run`.

        None offline and until the first response of the server, after about a second.
        """
        if not self._id and self._session is not None:
            self._id = self._session.run_id
        return self._id or None

    def __getitem__(self, path: str) -> Attribute:
        """Return the attribute at a path, to append to."""
        try:
            return self._attributes[path]
        except Exception:  # noqa: BLE001 - foreign code
            # A new path, or an invalid one, whose hash may raise anything.
            pass
        try:
            cleaned = self._recorder.own_path(path)
        except AgentError as error:
            self._recorder.refuse(error, path)
            # Appending to an invalid path has no effect and does not fail.
            ignoring = Recorder(Notices(), wake=lambda: False, strict=False)
            return Attribute(self, path, ignoring, "refused")
        attribute = Attribute(self, path, self._recorder, cleaned)
        # Above the limit nothing is stored, so nothing is cached either.
        if len(self._attributes) >= LARGEST_RUN:
            return attribute
        return self._attributes.setdefault(path, attribute)

    def __setitem__(self, path: str, value: object) -> None:
        """Set a single value, or several from nested dictionaries."""
        self._recorder.set_value(path, value)

    def log(
        self,
        data: Mapping[str, object],
        step: float | None = None,
        time: float | datetime | None = None,
    ) -> None:
        """Append one point, text, histogram or image to each of several series.

        Args:
            data: Values by path, of the types that `append` accepts; nested dictionaries
                are joined by slashes.
            step: The step of all values; by default the last step that
                `log` has used, or the next one if one of these series has it already.
            time: The time of all values; by default now.
        """
        self._recorder.log(data, step, time)

    def add_tags(self, *tags: str | Iterable[str]) -> None:
        """Add tags to the run, given one by one or as lists."""
        self.tags.add(*tags)

    def child(self, name: str | None = None, **options: Any) -> Run:
        """Open a run that is a part of this one: a trial of a search, a fold.

        Hardware and facts are measured for this run only, unless the options differ.

        Args:
            name: The child's name; by default a readable name is generated.
            options: As for `agent.init`; by default those of this run.
        """
        from seamark.api import init  # noqa: PLC0415 - it imports this module

        settings = self.settings
        # Any: options of init have many types.
        defaults: dict[str, Any] = {
            "stage": settings.stage,
            "rank": settings.rank,
            "mode": settings.mode.value,
            "monitor": False,
            "capture": settings.capture & {"failure"},
            "strict": settings.strict,
            "quiet": True,
        }
        return init(name, parent=self, **(defaults | options))

    def note(self, text: str, step: float | None = None) -> None:
        """Log a note: a mark on the run's charts and a line in its logs.

        Args:
            text: The note; charts show its first 1,000 characters.
            step: The position on the charts; by default the last logged step.
        """
        self._recorder.note(f"notes/{self.stage}", text, step)

    def phase(self, name: str) -> Phase:
        """Time a part of the step: `with run.phase("forward"): ...`."""
        name = str(name)
        if not name.isascii():
            # Lone surrogates, as in some file names, cannot be encoded.
            name = name.encode("utf-8", "replace").decode()
        return Phase(self, name)

    def loader(
        self,
        batches: Iterable[Batch],
        *,
        batch_size: int | None = None,
        workers: int | None = None,
    ) -> Loader[Batch]:
        """Iterate over batches, measuring steps and the wait for data.

        Args:
            batches: Any iterable; the batch size and workers of a PyTorch DataLoader are
                detected.
            batch_size: The number of examples in a full batch.
            workers: The number of loader processes; 0 if there are none.
        """
        return Loader(self.steps, batches, batch_size=batch_size, workers=workers)

    @property
    def probe(self) -> Trials:
        """Micro-benchmarks of parts of the training, each up to a minute long.

        `run.probe.loader(loader)` measures the loader's throughput without the model;
        docs/how-to/micro-benchmarks.md describes the others.
        """
        # Imported here, because most scripts do not use it.
        with importing():
            from seamark.trials.trials import Trials  # noqa: PLC0415
        is_enabled = self.settings.mode is not Mode.DISABLED and not self._is_finished
        return Trials(self.steps, self._notices, is_enabled=is_enabled)

    def fail(self, error: BaseException | str) -> None:
        """Mark the run as failed, and finish it."""
        if isinstance(error, BaseException):
            self.note_exception(type(error), error, error.__traceback__)
        else:
            self.note_failure(process_hooks.described(error))
        self._finish(None)

    def preempt(self) -> None:
        """Mark the run as preempted, and finish it.

        Preemption by SIGTERM is detected if the script handles the signal; call this
        after other notifications, such as a signal requested from the scheduler.
        """
        self._is_preempted = True
        self.finish()

    def announce(self) -> None:
        """Print the run's name and address; called by `agent.init`."""
        settings = self.settings
        if settings.is_quiet or settings.rank or settings.is_helper or not self._url:
            return
        write_line(f"seamark: run {self.name!a} is at {self._url}\n")

    def finish(
        self,
        timeout: float | None = None,
        *,
        ended_at: float | datetime | None = None,
    ) -> None:
        """End this process's part of the run and deliver the remaining data.

        Args:
            timeout: Seconds to wait for delivery; by default the whole end is limited to
                SEAMARK_EXIT_SECONDS, 5 unless set. Undelivered data stays in the
                offline queue, and the next process delivers it.
            ended_at: The end time of a run that is logged afterwards: a datetime or
                seconds since 1970.

        Raises:
            Rejected: The run is strict, and the server rejected data.
        """
        if ended_at is not None and not self._is_finished:
            self._set_end(ended_at)
        self._finish(timeout)
        self._recorder.check_rejected()

    def _set_end(self, ended_at: float | datetime) -> None:
        began_at = self.settings.began_at
        if began_at is None:
            began_at = self._made_at
        try:
            self._ended_at = end_of(ended_at, began_at=began_at)
        except InvalidSetting as error:
            if self.settings.strict:
                raise
            self._notices.warn(
                "ended_at", f"the current time is used as the end: {error}"
            )

    def _finish(self, timeout: float | None, share: float = 1.0) -> None:
        if self._is_finished:
            return
        self._is_finished = True
        process_hooks.remove_open_run(self)
        self.steps.release_device()
        session, self._session = self._session, None
        if session is None:
            self._recorder.end()
            return
        ending = session.ending(timeout, share)
        remainder = None
        try:
            try:
                session.end_capture(ending)
            except KeyboardInterrupt:
                # Stop waiting, but still write the logged data.
                ending = session.ending(0.0, share)
                raise
            finally:
                self._recorder.end()
                if self._failure is None and not session.was_preempted:
                    # After SIGTERM the exit code is arbitrary.
                    self._failure = self._exit_failure
                remainder = session.finish(
                    failure=self._failure,
                    is_preempted=self._is_preempted,
                    ending=ending,
                    ended_at=self._ended_at,
                )
                self._id = self._id or session.run_id
        except KeyboardInterrupt:
            self._print_pending(session.folder)
            raise
        if remainder is not None:
            self._print_pending(remainder.folder, is_written=remainder.is_written)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.finish()
            return
        if not self._is_expected(error):
            self.note_exception(kind, error, trace)
        self._finish(None)

    def end(self, failure: str | None = None, *, share: float = 1.0) -> None:
        """Finish at the end of the process; called by the agent itself.

        `failure` describes a nonzero exit code. `share` is the fraction of the exit
        timeout for this run, 0 to 1.
        """
        self._exit_failure = failure
        try:
            self._finish(None, share)
        except KeyboardInterrupt:
            # A second Ctrl-C means that the user wants to exit at once.
            return

    def note_failure(self, failure: str) -> None:
        """Store the reason for which the run fails; called by the agent itself."""
        self._failure = failure

    def log_at(self, values: Mapping[str, float], step: float, moment: int) -> None:
        """Log numbers at a past time (µs), by clean paths; called by the agent itself."""
        if self._recorder.is_awake or self._wake():
            self._recorder.log_measured(values, step, moment)

    def log_again(self, steps: Mapping[str, float]) -> None:
        """Log series again, each from a step on; called by the agent itself."""
        self._recorder.log_again(steps)

    def note_end(self, moment: int) -> None:
        """Set the end time of imported data, in microseconds; called by the agent
        itself.
        """
        self._ended_at = moment

    def wait_until_written(self, seconds: float) -> bool:
        """Wait until all is in the spool; return whether it is. Called by the agent."""
        deadline = time.monotonic() + seconds
        session = self._session
        if session is None:
            return False
        while not (session.files.is_done and session.is_all_written):
            if time.monotonic() > deadline:
                return False
            session.hurry()
            time.sleep(_PAUSE_SECONDS)
        return True

    def note_exception(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Store the exception that ends the run; called by the agent itself."""
        self.note_failure(process_hooks.describe(kind, error, trace))
        if self._session is not None:
            self._session.note_exception(kind, error, trace)
        if error is not None and not self._is_finished:
            examine(error, self.steps)

    def start_anew_in_child(self) -> None:
        """Release the parent's state in a forked child; called by the agent itself."""
        # Locks are copied in the state in which the parent's threads left them.
        self._starting = threading.Lock()
        self._recorder.start_anew()
        self.steps.start_anew_in_child()
        session, self._session = self._session, None
        # The parent measures its process tree, including this child, and stores the
        # facts about the machine and the script.
        self.settings = self.settings._replace(
            monitor=False,
            capture=self.settings.capture & {"failure"},
            tensorboard=None,
            is_helper=True,
        )
        if session is not None:
            session.forget()

    def start(self) -> None:
        """Open the spool and start the threads; called by `agent.init`."""
        if self.settings.mode is Mode.DISABLED:
            # Registered so that callbacks find this run and do not open another.
            process_hooks.add_open_run(self)
        self._wake()

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling to other processes: as names and folder, never with a token."""
        return attach, (handle_of(self.settings), self._url)

    def __deepcopy__(self, memo: object) -> Run:
        """Return the run itself: an object that holds it is copied, the run is not."""
        return self

    def __repr__(self) -> str:
        return f"<Run {self.name!a} of {self.project!a}, stage {self.stage!a}>"

    def _wake(self) -> bool:
        """Start the session; return whether logged data is accepted."""
        if self._is_finished:
            # The agent's own threads may be late; that is no error of the script.
            if threading.get_ident() not in own_threads:
                self._recorder.refuse(RunFinished(self.name))
            return False
        if self.settings.mode is Mode.DISABLED:
            return False
        # Non-blocking: a signal handler may interrupt the start itself.
        if not self._starting.acquire(blocking=False):
            return True
        try:
            if self._session is None:
                self._session = self._open_session()
                self._register_end()
                if self._session is not None:
                    self._url = self._url or self._session.url
                    self._recorder.begin(self._session.ring, self._session.files)
                    self._session.start()
            if self._session is None:
                # No writable folder: reported once and not retried at every step.
                self.settings = self.settings._replace(mode=Mode.DISABLED)
                self._recorder.give_up()
            return self._recorder.is_awake
        finally:
            self._starting.release()

    def _open_session(self) -> Session | None:
        # Imported here to keep `import agent` light for scripts that never log.
        with importing():
            from seamark.lifecycle.opening import open_session  # noqa: PLC0415
        return open_session(
            self.settings,
            self._recorder,
            self._notices,
            lambda: self.steps.data_folder,
        )

    def _register_end(self) -> None:
        process_hooks.add_open_run(self)
        process_hooks.finalize_child(self._end_child)

    def _end_child(self, earlier: BaseException | None) -> None:
        error = process_hooks.in_flight(earlier)
        if error is not None:
            self.note_exception(type(error), error, error.__traceback__)
        self.end()

    def _print_pending(self, folder: Path, *, is_written: bool = True) -> None:
        write_line(pending_line(self.settings, folder, is_written=is_written))

    def _is_expected(self, error: BaseException) -> bool:
        if process_hooks.is_orderly_exit(error):
            return True
        # After SIGTERM the exit code is arbitrary.
        session = self._session
        is_preempted = session is not None and session.was_preempted
        return is_preempted and isinstance(error, SystemExit)


def attach(handle: dict[str, Any], url: str | None = None) -> Run:
    """Return the run of a handle: this process's own, or a new part of it.

    `url` is the page address from the process that made the handle.
    """
    settings = settings_of(handle)
    known = process_hooks.find_open_run(settings)
    return known if isinstance(known, Run) else Run(settings, url=url)
