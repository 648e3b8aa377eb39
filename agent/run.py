"""Run: what a training script holds and writes to."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from seamark.attribute import Attribute
from seamark.errors import AgentError, InvalidSetting, RunFinished
from seamark.hints import command_line
from seamark.lifecycle import process_hooks
from seamark.lifecycle.background import importing, own_threads
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
    """One execution of a training program, from this process's point of view.

    Made by `agent.init`. Everything may be called from any thread; nothing
    waits for the network, and unless the run is strict nothing raises.
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
        )
        self._attributes: dict[str, Attribute] = {}
        # For what integrates frameworks; scripts have `loader` and `phase`.
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
        """The project the run belongs to."""
        return self.settings.project

    @property
    def stage(self) -> str:
        """The part of the run that this process is."""
        return self.settings.stage

    @property
    def rank(self) -> int:
        """Which process of a distributed run this is."""
        return self.settings.rank

    @property
    def url(self) -> str | None:
        """The address of the run's page.

        None offline, disabled, and while no server is known.
        """
        return self._url

    @property
    def id(self) -> str | None:
        """The run's id on the server, as `agent.open_run` takes it.

        None until the server has answered, which takes about a second, and offline.
        """
        if not self._id and self._session is not None:
            self._id = self._session.run_id
        return self._id or None

    def __getitem__(self, path: str) -> Attribute:
        """Return the attribute at a path, to append to."""
        try:
            return self._attributes[path]
        except Exception:  # noqa: BLE001 - foreign code
            # It is new, or nothing that can be a name: its hash may raise anything.
            pass
        try:
            cleaned = self._recorder.own_path(path)
        except AgentError as error:
            self._recorder.refuse(error, path)
            # Appending to it must do nothing rather than fail.
            return Attribute(self, path, _ignoring(), "refused")
        attribute = Attribute(self, path, self._recorder, cleaned)
        # Beyond the limit nothing is stored, so nothing is remembered either.
        if len(self._attributes) >= LARGEST_RUN:
            return attribute
        return self._attributes.setdefault(path, attribute)

    def __setitem__(self, path: str, value: object) -> None:
        """Set a single value, or, from nested dictionaries, many."""
        self._recorder.set_value(path, value)

    def log(
        self,
        data: Mapping[str, object],
        step: float | None = None,
        time: float | datetime | None = None,
    ) -> None:
        """Append one point, text, histogram or picture to each of several series.

        Args:
            data: Paths and what `append` takes; nested dictionaries are joined by
                slashes.
            step: The same for all; by default each series' last step plus one.
            time: The same for all; by default now.
        """
        self._recorder.log(data, step, time)

    def add_tags(self, *tags: str | Iterable[str]) -> None:
        """Add tags to the run, or those of lists."""
        self.tags.add(*tags)

    def note(self, text: str, step: float | None = None) -> None:
        """Write down what happened: a mark on the run's charts, a line in its logs.

        Args:
            text: What to say; charts show the first 1,000 characters of it.
            step: Where on the charts; by default the last step that was logged.
        """
        self._recorder.note(f"notes/{self.stage}", text, step)

    def phase(self, name: str) -> Phase:
        """Time a part of the step: `with run.phase("forward"): ...`."""
        name = str(name)
        if not name.isascii():
            # Half of a surrogate pair, as in names of files, cannot be sent.
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
            batches: Any iterable; a PyTorch DataLoader says its batch size and
                workers by itself.
            batch_size: The number of examples in a full batch.
            workers: The number of loader processes; 0 if there are none.
        """
        return Loader(self.steps, batches, batch_size=batch_size, workers=workers)

    @property
    def probe(self) -> Trials:
        """What tries parts of the training by themselves, each for a minute at most.

        `run.probe.loader(loader)` says how fast the loader is without the model;
        docs/how-to/micro-benchmarks.md has the others.
        """
        # Imported here: most scripts never ask.
        with importing():
            from seamark.trials.trials import Trials  # noqa: PLC0415
        is_enabled = self.settings.mode is not Mode.DISABLED and not self._is_finished
        return Trials(self.steps, self._notices, is_enabled=is_enabled)

    def fail(self, error: BaseException | str) -> None:
        """Say that the run failed, and finish it."""
        if isinstance(error, BaseException):
            self.note_exception(type(error), error, error.__traceback__)
        else:
            self.note_failure(process_hooks.described(error))
        self._finish(None)

    def preempt(self) -> None:
        """Say that the run was told to end before it was done, and finish it.

        After SIGTERM, which the script handles, this is known; call it where something
        else said so, as a signal that the scheduler was asked to send.
        """
        self._is_preempted = True
        self.finish()

    def announce(self) -> None:
        """Print the run's name and address; called by `agent.init`."""
        settings = self.settings
        if settings.is_quiet or settings.rank or settings.is_helper or not self._url:
            return
        _write_line(f"seamark: run {self.name!a} is at {self._url}\n")

    def finish(
        self,
        timeout: float | None = None,
        *,
        ended_at: float | datetime | None = None,
    ) -> None:
        """End this process's part of the run and deliver what is left.

        Args:
            timeout: Seconds to wait for delivery; by default the end takes 5 in
                all, or SEAMARK_EXIT_SECONDS. What is not delivered then stays in
                the spool, and the next process delivers it.
            ended_at: When the run ended, if it is logged later: a datetime or seconds
                since 1970.

        Raises:
            Rejected: The run is strict, and the server did not store something.
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
            self._notices.warn("ended_at", f"the run ends now: {error}")

    def _finish(self, timeout: float | None, share: float = 1.0) -> None:
        if self._is_finished:
            return
        self._is_finished = True
        process_hooks.remove_open_run(self)
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
                # Nothing more is waited for, and what was logged is written all the same.
                ending = session.ending(0.0, share)
                raise
            finally:
                self._recorder.end()
                if self._failure is None and not session.was_told_to_end:
                    # Told to end, a script does so with whatever code.
                    self._failure = self._exit_failure
                remainder = session.finish(
                    failure=self._failure,
                    is_preempted=self._is_preempted,
                    ending=ending,
                    ended_at=self._ended_at,
                )
                self._id = self._id or session.run_id
        except KeyboardInterrupt:
            self._tell_what_is_left(session.folder)
            raise
        if remainder is not None:
            self._tell_what_is_left(remainder.folder, is_written=remainder.is_written)

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

        `failure` is what the exit code says, if it says that something went wrong.
        `share` is how much of the time that the end may take this run has.
        """
        self._exit_failure = failure
        try:
            self._finish(None, share)
        except KeyboardInterrupt:
            # Whoever presses Ctrl-C a second time wants to leave, and knows why.
            return

    def note_failure(self, failure: str) -> None:
        """Remember why the run will not finish well; called by the agent itself."""
        self._failure = failure

    def log_at(self, values: Mapping[str, float], step: float, moment: int) -> None:
        """Log numbers of the past, by clean paths; called by the agent itself."""
        if self._recorder.is_awake or self._wake():
            self._recorder.log_measured(values, step, moment)

    def log_again(self, steps: Mapping[str, float]) -> None:
        """Log series again, each from a step on; called by the agent itself."""
        self._recorder.log_again(steps)

    def note_end(self, moment: int) -> None:
        """Remember when what is imported ended; called by the agent itself."""
        self._ended_at = moment

    def wait_until_written(self, seconds: float) -> bool:
        """Wait for the spool, so that nothing is dropped; called by the agent itself."""
        deadline = time.monotonic() + seconds
        session = self._session
        if session is not None:
            session.hurry()
        while session is not None and not session.is_all_written:
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_SECONDS)
        return session is not None

    def note_exception(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remember which exception ends it; called by the agent itself."""
        self.note_failure(process_hooks.describe(kind, error, trace))
        if self._session is not None:
            self._session.note_exception(kind, error, trace)
        if error is not None and not self._is_finished:
            examine(error, self.steps)

    def start_anew_in_child(self) -> None:
        """Leave everything to the parent process; called by the agent itself."""
        # Locks are copied in whatever state the parent's threads left them.
        self._starting = threading.Lock()
        self._recorder.start_anew()
        self.steps.start_anew_in_child()
        session, self._session = self._session, None
        # The parent measures its process tree, this child included, and has said
        # what there is to say about the machine and the script.
        self.settings = self.settings._replace(
            monitor=False,
            capture=self.settings.capture & {"failure"},
            is_helper=True,
        )
        if session is not None:
            session.forget()

    def start(self) -> None:
        """Open the spool and start the threads; called by `agent.init`."""
        if self.settings.mode is Mode.DISABLED:
            # Callbacks find it, rather than open one.
            process_hooks.add_open_run(self)
        self._wake()

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes as a handle: names and folder, never a token."""
        handle = self.settings._asdict()
        handle["mode"] = self.settings.mode.value
        handle["spool"] = str(self.settings.spool)
        # Of no use to who does not measure.
        handle["dataset"] = None
        return attach, (handle, self._url)

    def __deepcopy__(self, memo: object) -> Run:
        """Return the run itself, finished or not: what holds it is copied, not the run."""
        return self

    def __repr__(self) -> str:
        return f"<Run {self.name!a} of {self.project!a}, stage {self.stage!a}>"

    def _wake(self) -> bool:
        """Start what takes from the buffer; return whether anything will."""
        if self._is_finished:
            # The SDK's own threads may be late; the script did nothing wrong.
            if threading.get_ident() not in own_threads:
                self._recorder.refuse(RunFinished(self.name))
            return False
        if self.settings.mode is Mode.DISABLED:
            return False
        # Not waited for: a signal handler may interrupt the very start.
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
                # Nowhere to write: said once, and not tried at every step.
                self.settings = self.settings._replace(mode=Mode.DISABLED)
                self._recorder.give_up()
            return self._recorder.is_awake
        finally:
            self._starting.release()

    def _open_session(self) -> Session | None:
        # Imported here: `import agent` stays light, and costs a script that
        # never logs nothing.
        with importing():
            from seamark.lifecycle.session import open_session  # noqa: PLC0415
        return open_session(
            self.settings,
            self._recorder,
            self._notices,
            lambda: self.steps.data_folder,
        )

    def _register_end(self) -> None:
        process_hooks.add_open_run(self)
        # Children of multiprocessing end without atexit, but call these.
        multiprocessing = sys.modules.get("multiprocessing.util")
        process = sys.modules.get("multiprocessing.process")
        if multiprocessing and process and process.parent_process() is not None:
            multiprocessing.Finalize(
                None, self._end_child, args=(sys.exc_info()[1],), exitpriority=10
            )

    def _end_child(self, earlier: BaseException | None) -> None:
        error = process_hooks.in_flight(earlier)
        if error is not None:
            self.note_exception(type(error), error, error.__traceback__)
        self.end()

    def _is_expected(self, error: BaseException) -> bool:
        if process_hooks.is_orderly_exit(error):
            return True
        # Told to end, a script does so with whatever code.
        session = self._session
        is_told = session is not None and session.was_told_to_end
        return is_told and isinstance(error, SystemExit)

    def _tell_what_is_left(self, folder: Path, *, is_written: bool = True) -> None:
        # For people who find a run incomplete: one line, and the exit code stays.
        lost = "" if is_written else ", as far as it could be written,"
        by_hand = f"`{command_line(f'sync --spool {folder.parent}')}`"
        if self.settings.mode is Mode.OFFLINE:
            line = (
                f"seamark: run {self.name!a} lies{lost} in {folder} until {by_hand}\n"
            )
        else:
            sync = command_line("sync")
            who = f"the next agent.init() on this machine or by `{sync}`"
            if folder.parent != self.settings.spool:
                who = by_hand
            line = (
                f"seamark: run {self.name!a} is not completely delivered; the rest lies"
                f"{lost} in {folder} and is delivered by {who}\n"
            )
        _write_line(line)


def _write_line(line: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # The stream may be closed or absent by now.
        sys.stderr.write(line)


def attach(handle: dict[str, Any], url: str | None = None) -> Run:
    """Return the run a handle stands for: this process's own, or another part of it.

    `url` is the address that the process of the handle uses.
    """
    settings = Settings(
        **{
            **handle,
            "mode": Mode(handle["mode"]),
            "spool": Path(handle["spool"]),
            # The process that made the run measures the machine.
            "monitor": False,
            "capture": frozenset(),
            "is_helper": True,
        }
    )
    known = process_hooks.find_open_run(settings)
    return known if isinstance(known, Run) else Run(settings, url=url)


def _ignoring() -> Recorder:
    return Recorder(Notices(), wake=lambda: False, strict=False)
