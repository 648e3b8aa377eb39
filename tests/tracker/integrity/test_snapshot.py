"""A check reads one snapshot and does not block writers."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from tests.builders import make_member, make_project, make_run, write_series
from tests.tracker.integrity.stored import fill
from tracker.integrity.run import RunWalk, Seen
from tracker.integrity.snapshot import snapshot
from tracker.models import Run
from tracker.series.compaction import compact_run

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.database,
    pytest.mark.postgresql,
]


@pytest.fixture
def project(transactional_db):
    return make_project(make_member("ada"))


def elsewhere(work):
    """Run a function with its own connection, and wait for it."""
    errors = []

    def do():
        try:
            work()
        except Exception as error:  # noqa: BLE001 - raised in the main thread
            errors.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=do)
    thread.start()
    thread.join()
    assert errors == []


def test_a_snapshot_does_not_see_later_writes(project):
    with snapshot():
        assert Run.objects.count() == 0
        elsewhere(lambda: make_run(project))
        assert Run.objects.count() == 0

    assert Run.objects.count() == 1


def test_compaction_under_way_is_no_damage(project):
    run = fill(project)

    with snapshot():
        walk = RunWalk(Run.objects.get(id=run.id), Seen()).problems()
        assert Run.objects.count() == 1

        def go_on():
            write_series(run, "loss", [3.0], steps=[9_002])
            compact_run(run.id)

        elsewhere(go_on)
        assert list(walk) == []

    assert list(RunWalk(run, Seen()).problems()) == []
    # Writing is possible again.
    write_series(run, "loss", [4.0], steps=[9_003])


def test_an_error_ends_it(project):
    with pytest.raises(ZeroDivisionError), snapshot():
        assert 1 / 0

    make_run(project)
    assert Run.objects.count() == 1
