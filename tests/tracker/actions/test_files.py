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
from tracker.actions.runs.purging import purge_run
from tracker.errors import DigestDiffers, NoRoom, Unavailable
from tracker.models import Blob, File, Run, Upload

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

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


def test_unreferenced_contents_are_deleted_after_a_day(run, folder):
    deliver(run, CONTENT)

    assert collect(seconds=5) == 0
    let_a_day_pass()
    assert collect(seconds=5) == 1

    assert not contents(folder)
    assert not Blob.objects.exists()


def test_contents_of_runs_are_kept(run, folder):
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


def test_a_progress_request_keeps_the_content_for_another_day(run, folder):
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
            # While it is being deleted, agents retry.
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


def begin(workspace, name, size, *, digest=None, piece=b"x"):
    digest = digest or hashlib.sha256(name.encode()).hexdigest()
    return receive(workspace, digest, size=size, offset=0, pieces=[piece])


def test_unfinished_uploads_count_against_the_quota(run, settings):
    settings.WORKSPACE_FILE_BYTES = 1_000
    workspace = run.project.workspace_id
    begin(workspace, "one", 600)

    with pytest.raises(NoRoom):
        begin(workspace, "two", 500)
    begin(workspace, "three", 400)


def test_an_upload_cannot_grow_past_the_quota(run, settings):
    settings.WORKSPACE_FILE_BYTES = 1_000
    workspace = run.project.workspace_id
    begin(workspace, "one", 600)
    digest = hashlib.sha256(b"one").hexdigest()

    with pytest.raises(NoRoom):
        receive(workspace, digest, size=1_001, offset=1, pieces=[b"x"])
    receive(workspace, digest, size=10, offset=1, pieces=[b"x"])
    with pytest.raises(NoRoom):
        begin(workspace, "two", 500)


def test_a_finished_upload_counts_once(run, settings):
    settings.WORKSPACE_FILE_BYTES = 2 * len(CONTENT)
    deliver(run, CONTENT)
    deliver(run, CONTENT[::-1])

    assert not Upload.objects.exists()
    assert files.used_bytes(run.project.workspace_id) == 2 * len(CONTENT)


def test_an_upload_with_a_wrong_digest_frees_the_quota(run, settings):
    settings.WORKSPACE_FILE_BYTES = 10
    workspace = run.project.workspace_id
    with pytest.raises(DigestDiffers):
        begin(workspace, "other", 1)

    begin(workspace, "one", 10)


def test_an_abandoned_upload_frees_the_quota_after_a_day(run, settings, folder):
    settings.WORKSPACE_FILE_BYTES = 10
    workspace = run.project.workspace_id
    begin(workspace, "one", 10)
    long_ago = timezone.now() - GRACE - timedelta(hours=2)
    Upload.objects.update(last_part_at=long_ago)
    for half in folder.glob("arriving/*"):
        os.utime(half, (long_ago.timestamp(), long_ago.timestamp()))

    collect(seconds=5)
    begin(workspace, "two", 10)


@pytest.mark.django_db(transaction=True)
def test_uploads_that_begin_at_once_cannot_exceed_the_quota(settings):
    settings.WORKSPACE_FILE_BYTES = 1_000
    workspace = make_member().workspace_id

    def is_taken(number):
        try:
            begin(workspace, str(number), 300)
        except NoRoom:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(is_taken, range(16))) == 3


def test_a_full_disk_is_refused(run, folder, monkeypatch):
    monkeypatch.setattr(files, "MIN_FREE_BYTES", 2**62)

    with pytest.raises(NoRoom):
        deliver(run, CONTENT)
