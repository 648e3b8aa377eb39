import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests.builders import make_member, make_project, make_run, write
from tests.tracker.api.v1.test_files import add, deliver, file_message
from tracker.actions import files
from tracker.actions.files import GRACE, collect, progress_of, receive, remove_strays
from tracker.actions.purging import purge_run
from tracker.errors import Unavailable
from tracker.models import Blob, File, Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CONTENT = b"weights" * 1_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return tmp_path / "files"


@pytest.fixture
def run(member):
    return make_run(make_project(member), "baseline")


def contents(folder):
    return [path for path in folder.glob("[0-9]*/*/*") if path.is_file()]


def let_a_day_pass():
    Blob.objects.update(asked_at=timezone.now() - GRACE - timedelta(hours=1))


def test_what_nobody_refers_to_is_deleted_after_a_day(run, folder):
    deliver(run, CONTENT)

    assert collect(seconds=5) == 0
    let_a_day_pass()
    assert collect(seconds=5) == 1

    assert not contents(folder)
    assert not Blob.objects.exists()


def test_what_a_run_refers_to_stays(run, folder):
    add(run, "model/best", CONTENT)
    let_a_day_pass()

    assert collect(seconds=5) == 0
    assert contents(folder)


def test_a_run_that_is_deleted_gives_its_space_back(run, folder, member):
    add(run, "model/best", CONTENT)
    add(run, "model/own", b"own")
    add(make_run(make_project(member, "two"), "other"), "model/best", CONTENT)
    let_a_day_pass()

    Run.objects.filter(id=run.id).update(purging_at=timezone.now())
    assert purge_run(run.id, seconds=10).is_done
    collect(seconds=5)

    assert [path.name for path in contents(folder)] == [DIGEST]


def test_another_value_at_the_path_gives_the_space_back(run, folder):
    add(run, "model/best", CONTENT)
    add(run, "model/best", b"newer")
    let_a_day_pass()

    assert collect(seconds=5) == 1
    assert [path.read_bytes() for path in contents(folder)] == [b"newer"]


def test_who_asks_has_it_kept_for_another_day(run, folder):
    deliver(run, CONTENT)
    let_a_day_pass()

    asked = progress_of(run.project.workspace_id, DIGEST, size=len(CONTENT))

    assert asked.is_stored
    assert collect(seconds=5) == 0


def test_halves_are_swept_after_a_day(run, folder):
    workspace = run.project.workspace_id
    receive(workspace, DIGEST, size=len(CONTENT), offset=0, pieces=[b"weights"])
    [half] = folder.glob("arriving/*")

    collect(seconds=5)
    assert half.exists()
    long_ago = time.time() - 2 * 86_400
    os.utime(half, (long_ago, long_ago))
    collect(seconds=5)

    assert not half.exists()


def test_a_content_without_a_row_is_swept_in_its_shard(run, folder):
    add(run, "model/best", CONTENT)
    stray = folder / str(run.project.workspace_id) / "ab" / ("ab" + "0" * 62)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"stray")

    assert remove_strays(0xAB) == 0
    long_ago = time.time() - 2 * 86_400
    for path in contents(folder):
        os.utime(path, (long_ago, long_ago))

    assert sum(remove_strays(shard) for shard in range(256)) == 1
    assert [path.name for path in contents(folder)] == [DIGEST]


@pytest.mark.django_db(transaction=True)
def test_a_content_sent_again_while_it_is_deleted_is_there_afterwards(folder):
    run = make_run(make_project(make_member()), "baseline")
    stop = time.monotonic() + 3

    def collect_all_the_time():
        try:
            while time.monotonic() < stop:
                let_a_day_pass()
                collect(seconds=5)
        finally:
            connection.close()

    sent = 0
    with ThreadPoolExecutor(1) as threads:
        collecting = threads.submit(collect_all_the_time)
        while time.monotonic() < stop:
            # It is being deleted just now: agents come again.
            with suppress(Unavailable):
                deliver(run, CONTENT)
                sent += 1
        collecting.result()
    deliver(run, CONTENT)

    assert sent > 5
    assert [path.read_bytes() for path in contents(folder)] == [CONTENT]
    assert Blob.objects.count() == 1


def test_the_same_said_twice_is_one_file(run):
    message = file_message("model/best", CONTENT)
    write(run, [message])
    write(run, [message])

    assert File.objects.count() == 1


def test_a_full_disk_is_said(run, folder, monkeypatch):
    from tracker.errors import NoRoom

    monkeypatch.setattr(files, "LEAST_FREE_BYTES", 2**62)

    with pytest.raises(NoRoom):
        deliver(run, CONTENT)
