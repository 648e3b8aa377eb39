"""Makes members, projects and runs for tests, all through the real ingest path."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import msgspec
import numpy as np

from tracker.actions.access import authenticate, make_token
from tracker.actions.runs.states import settle_states
from tracker.actor import Actor, Scope
from tracker.ingest.opening import from_microseconds
from tracker.ingest.write import Receipt, store_batch
from tracker.models import Member, Project, Role, Run, Spool, State, User, Workspace

# Default start time of test runs, in microseconds since 1970.
START = int(datetime(2026, 1, 2, 12, tzinfo=UTC).timestamp()) * 1_000_000
SECOND = 1_000_000

Message = Mapping[str, Any]


def frames(payloads: Iterable[Sequence[Message] | bytes], *, first: int = 1) -> bytes:
    """Frame each payload (messages, or ready bytes), numbered from `first`."""
    return b"".join(
        frame(
            payload if isinstance(payload, bytes) else msgspec.msgpack.encode(payload),
            number,
        )
        for number, payload in enumerate(payloads, start=first)
    )


def frame(payload: bytes, number: int) -> bytes:
    checked = struct.pack("<IQ", len(payload), number) + payload
    return struct.pack("<I", zlib.crc32(checked)) + checked


def open_message(
    run: str = "run", *, project: str = "vision", **fields: Any
) -> Message:
    return {
        "t": "open",
        "project": project,
        "run": run,
        "stage": "train",
        "rank": 0,
        "host": "node-1",
        "pid": 4242,
        "agent": "0.1.0",
        "time": START,
        **fields,
    }


def records_message(
    path: str,
    values: Sequence[str | bytes],
    *,
    kind: str = "text",
    steps: Sequence[float] | np.ndarray | None = None,
    times: Sequence[int] | np.ndarray | None = None,
) -> Message:
    """Write one record per second from START on, by default at steps 0, 1, 2, …"""
    data = [each.encode() if isinstance(each, str) else each for each in values]
    numbers = np.arange(len(data))
    return {
        "t": "records",
        "kind": kind,
        "path": path,
        "steps": np.asarray(numbers if steps is None else steps, "<f8").tobytes(),
        "times": np.asarray(
            START + numbers * SECOND if times is None else times, "<i8"
        ).tobytes(),
        "sizes": np.array([len(each) for each in data], "<u4").tobytes(),
        "values": b"".join(data),
    }


def points_message(
    path: str,
    values: Sequence[float] | np.ndarray,
    *,
    steps: Sequence[float] | np.ndarray | None = None,
    times: Sequence[int] | np.ndarray | None = None,
) -> Message:
    """Write one point per second from START on, by default at steps 0, 1, 2, …"""
    columns = np.asarray(values, dtype="<f8")
    numbers = np.arange(len(columns))
    return {
        "t": "points",
        "paths": [path],
        "steps": np.asarray(numbers if steps is None else steps, "<f8").tobytes(),
        "times": np.asarray(
            START + numbers * SECOND if times is None else times, "<i8"
        ).tobytes(),
        "values": columns.tobytes(),
    }


def set_message(path: str, value: object) -> Message:
    return {"t": "set", "path": path, "value": value}


def close_message(state: str = "finished", *, failure: str = "", time: int) -> Message:
    if state == "preempted":
        ended = close_message(failure=failure, time=time)
        return {**ended, "preempted": True}
    return {"t": "close", "state": state, "failure": failure, "time": time}


def make_member(
    name: str = "ada", role: str = Role.OWNER, *, workspace: Workspace | None = None
) -> Member:
    """Create a user with a role, by default in a new workspace."""
    if workspace is None:
        workspace = Workspace.objects.create(name=f"{name}'s", slug=f"{name}-workspace")
    user, _ = User.objects.get_or_create(username=name)
    return Member.objects.create(workspace=workspace, user=user, role=role)


def actor_of(member: Member, scope: Scope = Scope.MANAGE) -> Actor:
    """Return the actor of a new API key of this member: one workspace, one scope."""
    actor = authenticate(make_token(member, "test", scope))
    assert actor is not None
    return actor


def browser_of(member: Member) -> Actor:
    """Return the actor of a browser session of this member: all their workspaces."""
    return Actor(member.user_id)


def make_project(member: Member, name: str = "vision") -> Project:
    return Project.objects.create(workspace=member.workspace, name=name, slug=name)


def make_run(
    project: Project,
    name: str = "baseline",
    state: str = State.RUNNING,
    *,
    stage: str = "train",
    started_at: int = START,
    failure: str = "",
) -> Run:
    """Create a run with one stage and one process, in the given state."""
    process = Process(project, name, stage=stage, time=started_at)
    closing = _closing(state, failure=failure, time=started_at)
    process.send([process.opening], *closing)
    run = process.run
    _settle(run, process, state, time=started_at)
    return run


def write_series(
    run: Run,
    path: str,
    values: Sequence[float] | np.ndarray,
    *,
    steps: Sequence[float] | np.ndarray | None = None,
    times: Sequence[int] | np.ndarray | None = None,
    stage: str = "train",
    rank: int = 0,
) -> None:
    """Log a series from a separate process; the run's state does not change."""
    message = points_message(path, values, steps=steps, times=times)
    write(run, [message], stage=stage, rank=rank)


def write_values(
    run: Run, values: Mapping[str, object], *, stage: str = "train", rank: int = 0
) -> None:
    """Set attributes; datetimes, integers, texts and lists of strings keep their type."""
    messages = [set_message(path, value) for path, value in values.items()]
    write(run, messages, stage=stage, rank=rank)


def write_tags(run: Run, *tags: str, stage: str = "train") -> None:
    write(run, [{"t": "tags", "add": list(tags), "remove": []}], stage=stage)


def write(
    run: Run, messages: Sequence[Message], *, stage: str = "train", rank: int = 0
) -> None:
    """Send messages from a separate process; fails if one is rejected.

    Sends one batch, as a short script does, because each batch is expensive.
    """
    run.refresh_from_db()
    state, time = run.state, _end_of(messages)
    process = Process(run.project, run.name, stage=stage, rank=rank)
    # Otherwise it would begin another run if this one has ended.
    opening = {**process.opening, "resume": state != State.RUNNING}
    receipt = process.send([opening], messages, *_closing(state, time=time))
    assert not receipt.refused, receipt.refused
    _settle(run, process, state, time=time)


class Process:
    """One process that logs: an actor, a spool and the number of its next frame."""

    def __init__(
        self,
        project: Project,
        run: str,
        *,
        stage: str = "train",
        rank: int = 0,
        time: int = START,
        actor: Actor | None = None,
    ) -> None:
        self.actor = actor or _writer(project)
        self.spool_id = uuid4()
        self.next_number = 1
        self.opening = open_message(
            run, project=project.slug, stage=stage, rank=rank, time=time
        )

    @property
    def run(self) -> Run:
        return self.spool.run

    @property
    def spool(self) -> Spool:
        return Spool.objects.select_related("run__project").get(id=self.spool_id)

    def open(self) -> Receipt:
        return self.send([self.opening])

    def send(self, *payloads: Sequence[Message]) -> Receipt:
        """Send each list of messages as a frame, all in one batch."""
        body = frames(payloads, first=self.next_number)
        receipt = store_batch(self.actor, self.spool_id, body)
        self.next_number += len(payloads)
        return receipt


def _closing(state: str, *, failure: str = "", time: int) -> list[list[Message]]:
    """Return the last messages of a process that ends in this state."""
    if state not in (State.FINISHED, State.FAILED, State.PREEMPTED):
        return []
    return [[close_message(state, failure=failure, time=time)]]


def _settle(run: Run, process: Process, state: str, *, time: int) -> None:
    if state == State.CRASHED:
        Spool.objects.filter(id=process.spool_id).update(
            state=State.CRASHED, ended_at=from_microseconds(time)
        )
        settle_states(run.id)
    run.refresh_from_db()


def _writer(project: Project) -> Actor:
    members = project.workspace.members.filter(is_active=True)
    member = members.filter(role__in=[Role.OWNER, Role.MEMBER]).earliest("id")
    return actor_of(member)


def _end_of(messages: Sequence[Message]) -> int:
    """Return the last timestamp of the messages."""
    times = [
        np.frombuffer(message["times"], "<i8").max()
        for message in messages
        if message.get("times")
    ]
    return int(max(times, default=START))
