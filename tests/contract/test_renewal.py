"""A restored or copied machine loses no data and stores nothing twice."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta

import pytest
from django.utils import timezone

from seamark import messages
from seamark.queue import locks
from seamark.queue.frames import Frame
from seamark.queue.spool import Spool, create_spool
from seamark.queue.spool_reader import SpoolReader
from seamark.servers import Server
from seamark.upload import delivery
from seamark.upload.delivery import Delivery
from seamark.upload.orphans import Leftovers
from seamark.upload.responses import Reply
from seamark.upload.transport import CONTENT_TYPE
from seamark.user_warnings import Notices
from tests.agent.queue.test_spool import ORIGIN
from tracker.actions.access import make_token
from tracker.actions.runs.states import mark_silent
from tracker.actor import Scope
from tracker.ingest.pipeline import REMEMBERED_FRAMES
from tracker.models import Run, State
from tracker.models import Spool as StoredSpool
from tracker.queries.series.series import read_points

pytestmark = [pytest.mark.django_db, pytest.mark.database]

START = 1_767_355_200_000_000


class ServerTransport:
    """Hands batches to the real server's code."""

    def __init__(self, client):
        self.client = client
        self.sent = 0

    def send(self, spool_id, body):
        self.sent += 1
        answer = self.client.post(
            f"/api/v1/ingest/{spool_id}", body, content_type=CONTENT_TYPE
        )
        return Reply(answer.status_code, answer.get("Retry-After"), answer.content)

    def report_gone(self, spool_id, after, time):
        query = f"after={after}&time={time}"
        answer = self.client.post(f"/api/v1/ingest/{spool_id}/gone?{query}")
        return Reply(answer.status_code, answer.get("Retry-After"), answer.content)


class Machine:
    """A process on a machine, with the folder of its spool."""

    def __init__(self, spool, transport):
        self.spool = spool
        self.transport = transport

    @property
    def folder(self):
        return self.spool.folder

    def log(self, *values):
        for value in values:
            columns = [[float(value)], [START + value], [[float(value)]]]
            self.spool.write(messages.payload([messages.points(["a"], *columns)]))

    def close(self):
        self.spool.write(
            messages.payload([messages.close(failure=None, time=START + 10**6)])
        )

    def copy(self, root):
        """Copy the machine as it is now: its disk and its memory."""
        folder = shutil.copytree(self.folder, root / self.folder.name)
        copied = Spool(folder, locks.acquire(folder), b"{}")
        copied.written = self.spool.written
        return Machine(copied, self.transport)

    def deliver(self, *, is_alive=True):
        """Deliver everything, as a newly started process does."""
        written = (lambda: self.spool.written) if is_alive else None
        reader = SpoolReader(self.folder)
        sending = Delivery(reader, self.transport, Notices(), last_written=written)
        for _ in range(200):
            outcome = sending.send_some()
            if outcome.is_done or outcome.is_deferred:
                return outcome
        pytest.fail("it never comes to an end")


@pytest.fixture
def transport(member, api):
    return ServerTransport(api(make_token(member, "agent", Scope.LOG)))


@pytest.fixture
def machine(tmp_path, transport):
    origin = messages.Origin(**{**vars(ORIGIN), "time": START})
    machine = Machine(create_spool(tmp_path / "spools", origin, url=None), transport)
    machine.log(1, 2, 3)
    machine.deliver()
    yield machine
    machine.spool.close()


@pytest.fixture
def copy(machine, tmp_path):
    """Return a function that copies the machine; it stops at the end."""
    copies = []

    def make(of=machine):
        copies.append(of.copy(tmp_path / f"copy {len(copies)}"))
        return copies[-1]

    yield make
    for copied in copies:
        copied.spool.close()


def deliver_leftovers(machine, transport):
    """Deliver the queue of an ended process, as the next process does."""
    leftovers = Leftovers(machine.folder.parent, Notices())
    server = Server("http://127.0.0.1:1", "smk_test")
    for _ in range(20):
        if leftovers.send_some(server, transport).is_done:
            return
    pytest.fail("it never comes to an end")


def stored():
    return sorted(read_points(Run.objects.get(), "a").values.tolist())


def test_two_copies_of_a_machine_log_on_and_both_are_stored(machine, copy, caplog):
    other = copy()
    machine.log(4, 5)
    other.log(104, 105, 106)

    machine.deliver()
    assert not other.deliver().is_deferred
    machine.log(6)
    other.log(107)
    machine.deliver()
    other.deliver()

    assert stored() == [1, 2, 3, 4, 5, 6, 104, 105, 106, 107]
    first, second = StoredSpool.objects.order_by("started_at")
    assert (first.run, first.stage, first.rank) == (
        second.run,
        second.stage,
        second.rank,
    )
    (message,) = [
        record.getMessage() for record in caplog.records if record.name == "seamark"
    ]
    assert f"offline queue {first.id}:" in message
    assert f"queue {second.id} of the same run" in message


@pytest.mark.parametrize("frames", [1, REMEMBERED_FRAMES, 3 * REMEMBERED_FRAMES])
def test_a_machine_that_was_set_back_loses_nothing(machine, copy, frames):
    earlier = copy()
    machine.log(*range(4, 4 + frames))
    machine.deliver()

    earlier.log(1_000, 1_001)
    earlier.deliver()
    earlier.log(1_002)
    earlier.deliver()

    assert stored() == [*range(1, 4 + frames), 1_000, 1_001, 1_002]


def test_an_idle_machine_learns_from_its_heartbeat_that_it_was_set_back(machine, copy):
    earlier = copy()
    machine.log(*range(4, 200))
    machine.deliver()
    sending = Delivery(
        SpoolReader(earlier.folder),
        machine.transport,
        Notices(),
        last_written=lambda: earlier.spool.written,
    )

    sending.report_alive()

    earlier.log(1_000)
    assert not sending.send_some().is_deferred
    assert stored() == [*range(1, 200), 1_000]


def test_what_a_machine_logged_offline_after_it_was_set_back_is_stored(machine, copy):
    earlier = copy()
    machine.log(*range(4, 4 + 3 * REMEMBERED_FRAMES))
    machine.deliver()

    # More frames than the server remembers, delivered after the process ended.
    earlier.log(*range(1_000, 1_000 + 4 * REMEMBERED_FRAMES))
    earlier.deliver(is_alive=False)

    expected = [*range(1, 4 + 3 * REMEMBERED_FRAMES)]
    assert stored() == [*expected, *range(1_000, 1_000 + 4 * REMEMBERED_FRAMES)]


def test_frames_that_are_stored_already_are_not_stored_twice(machine):
    machine.log(4, 5, 6)
    reader = SpoolReader(machine.folder)
    sending = Delivery(reader, machine.transport, Notices())
    # As after an unreadable frame that the server no longer remembers.
    lost = messages.payload([messages.drop(1)])
    sending._replacements[5] = Frame(5, lost)
    sending.send_some()
    assert stored() == [1, 2, 3, 5, 6]
    (machine.folder / "acknowledged").unlink()
    machine.log(7)

    machine.deliver(is_alive=False)

    assert stored() == [1, 2, 3, 4, 5, 6, 7]


def test_whoever_delivers_the_rest_goes_on_in_the_new_spool(machine, copy, transport):
    other = copy()
    machine.log(4)
    machine.deliver()
    other.log(104)
    other.deliver()
    other.log(105)
    other.close()

    other.spool.close()

    deliver_leftovers(other, transport)

    assert stored() == [1, 2, 3, 4, 104, 105]
    assert not other.folder.exists()
    states = StoredSpool.objects.order_by("started_at").values_list("state", flat=True)
    assert list(states) == [State.RUNNING, State.FINISHED]


def test_a_process_that_is_gone_has_crashed_in_the_new_spool(machine, copy, transport):
    other = copy()
    machine.log(4)
    machine.deliver()
    other.log(104)
    other.spool.close()

    deliver_leftovers(other, transport)

    assert stored() == [1, 2, 3, 4, 104]
    newest = StoredSpool.objects.order_by("started_at").last()
    assert newest.state == State.CRASHED
    assert not other.folder.exists()


def test_the_end_of_a_spool_is_not_said_again_in_another(machine, copy, transport):
    earlier = copy()
    machine.log(4)
    machine.close()
    machine.deliver()
    earlier.spool.close()

    deliver_leftovers(earlier, transport)

    assert stored() == [1, 2, 3, 4]
    assert StoredSpool.objects.get().state == State.FINISHED
    assert Run.objects.get().state == State.FINISHED
    assert not earlier.folder.exists()


def test_who_delivers_a_copy_does_not_disturb_a_process_that_lives_on(
    machine, copy, transport
):
    for number in range(4, 7):
        machine.log(number)
        # As with a folder that is copied to another host and delivered there.
        others = [copy() for _ in range(2)]
        for other in others:
            other.spool.close()
            deliver_leftovers(other, transport)
        machine.deliver()
        assert Run.objects.get().state == State.CRASHED
    machine.log(7)
    machine.deliver()
    assert Run.objects.get().state == State.RUNNING

    earlier = copy()
    earlier.spool.close()
    machine.log(8)
    machine.close()
    machine.deliver()
    deliver_leftovers(earlier, transport)

    assert stored() == [*range(1, 9)]
    assert StoredSpool.objects.get().state == State.FINISHED
    assert Run.objects.get().state == State.FINISHED


def test_that_a_process_is_gone_brings_no_run_back_that_was_deleted(machine, transport):
    Run.objects.all().delete()
    machine.spool.close()

    deliver_leftovers(machine, transport)

    assert not Run.objects.exists()
    assert not machine.folder.exists()


def test_the_spool_that_was_left_does_not_decide_about_the_run(machine, copy):
    earlier = copy()
    machine.log(4, 5)
    machine.deliver()
    earlier.log(104)
    earlier.deliver()

    # No process writes to the old queue.
    mark_silent(timezone.now() + timedelta(minutes=2))
    earlier.log(105)
    earlier.close()
    earlier.deliver()

    states = StoredSpool.objects.order_by("started_at").values_list("state", flat=True)
    assert list(states) == [State.CRASHED, State.FINISHED]
    assert Run.objects.get().state == State.FINISHED


def test_a_copy_that_goes_on_after_the_other_has_finished_is_stored(machine, copy):
    other = copy()
    machine.log(4)
    machine.close()
    machine.deliver()
    assert Run.objects.get().state == State.FINISHED

    other.log(104, 105)
    assert not other.deliver().is_deferred

    assert stored() == [1, 2, 3, 4, 104, 105]


def test_a_copy_of_a_copy_goes_on_by_itself_too(machine, copy):
    second = copy()
    machine.log(4)
    machine.deliver()
    second.log(104, 105)
    second.deliver()
    third = copy(of=second)
    second.log(106)
    second.deliver()
    third.log(206, 207)
    third.deliver()
    third.log(208)
    third.deliver()

    assert stored() == [1, 2, 3, 4, 104, 105, 106, 206, 207, 208]
    assert StoredSpool.objects.count() == 3


def test_a_run_that_was_deleted_is_made_anew_with_what_the_new_spool_has(machine, copy):
    other = copy()
    machine.log(4)
    machine.deliver()
    other.log(104, 105)
    other.deliver()
    Run.objects.all().delete()
    other.log(106)

    other.deliver()

    assert stored() == [104, 105, 106]


def test_another_copy_may_be_first_to_send_what_the_new_spool_has(
    machine, copy, transport
):
    other = copy()
    machine.log(4)
    machine.deliver()
    other.log(104)
    # The process re-registers with a new queue, from which nothing has been sent yet.
    Delivery(SpoolReader(other.folder), transport, Notices()).send_some()
    third = copy(of=other)
    third.spool.close()
    deliver_leftovers(third, transport)
    other.log(105)

    assert not other.deliver().is_deferred
    assert stored() == [1, 2, 3, 4, 104, 105]


class Refusing:
    """A server that has different content for every frame, even for new ones."""

    def send(self, spool_id, body):
        error = {"code": "frame_differs", "first": 2, "stored": []}
        return Reply(422, None, json.dumps({"error": error}).encode())


def test_a_tracker_that_refuses_even_a_new_spool_is_not_hurried(machine, copy):
    other = copy()
    machine.log(4)
    machine.deliver()
    other.log(104)
    other.transport = Refusing()

    assert other.deliver().is_deferred
    renewed = SpoolReader(other.folder).sent_as
    assert other.deliver().is_deferred
    assert SpoolReader(other.folder).sent_as == renewed

    other.transport = machine.transport
    other.deliver()
    assert stored() == [1, 2, 3, 4, 104]


@pytest.mark.parametrize("obstacle", ["spool.json", "renewal.json"])
def test_where_no_new_spool_can_be_made_everything_is_kept(
    machine, copy, obstacle, caplog
):
    other = copy()
    machine.log(4)
    machine.deliver()
    other.log(104)
    (other.folder / obstacle).unlink(missing_ok=True)
    (other.folder / obstacle).mkdir()

    assert other.deliver().wait_seconds == delivery.HOLD_SECONDS
    assert "frame_differs" in caplog.text
    (other.folder / obstacle).rmdir()
    shutil.copy(machine.folder / "spool.json", other.folder)
    other.deliver()

    assert stored() == [1, 2, 3, 4, 104]
