"""Write statements are executed inside a transaction, or not at all."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.transaction import TransactionManagementError

from tests.builders import make_member, make_project, make_run
from tracker.models import Workspace
from tracker.server.statements import (
    carry_out,
    carry_out_many,
    changed_rows,
    every_row,
    many,
    one_row,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.database,
    pytest.mark.postgresql,
]

RENAME = "UPDATE tracker_workspace SET name = %s WHERE slug = %s"
NAME = "SELECT name FROM tracker_workspace WHERE slug = %s"
VALUES = ["new", "vision"]


def rename_many(statement, values):
    carry_out_many(statement, iter([values, ["other", "nobody's"]]))


@pytest.fixture(autouse=True)
def workspace(transactional_db):
    return Workspace.objects.create(name="old", slug="vision")


def name():
    row = one_row(NAME, ["vision"])
    assert row is not None
    return row[0]


@pytest.mark.parametrize("write", [carry_out, rename_many])
def test_nothing_is_written_outside_a_transaction(write):
    with pytest.raises(RuntimeError, match="needs a transaction"):
        write(RENAME, VALUES)

    assert name() == "old"


@pytest.mark.parametrize("write", [carry_out, rename_many, changed_rows])
def test_writes_are_committed_with_the_transaction(write):
    with transaction.atomic():
        write(RENAME, VALUES)
        assert name() == "new"
    connection.close()

    assert name() == "new"


@pytest.mark.parametrize("write", [carry_out, rename_many, changed_rows])
def test_writes_are_rolled_back_with_the_transaction(write):
    with transaction.atomic():
        write(RENAME, VALUES)
        transaction.set_rollback(True)

    assert name() == "old"


def test_a_single_write_without_a_transaction_is_refused_on_sqlite():
    if settings.IS_SQLITE:
        # Without a transaction, the writer's lock would not be requested.
        with pytest.raises(RuntimeError, match="needs a transaction"):
            changed_rows(RENAME, VALUES)
        assert name() == "old"
    else:
        assert changed_rows(RENAME, VALUES) == 1
        connection.close()
        assert name() == "new"


def test_rows_that_change_are_counted():
    with transaction.atomic():
        assert changed_rows(RENAME, VALUES) == 1
        assert changed_rows(RENAME, ["new", "nobody's"]) == 0


@pytest.mark.parametrize("write", [carry_out, rename_many])
def test_nothing_is_written_once_the_transaction_is_lost(write):
    with transaction.atomic():
        with pytest.raises(DatabaseError), transaction.atomic(savepoint=False):
            one_row("SELECT nothing FROM nowhere WHERE id = %s", [1])
        with pytest.raises(TransactionManagementError):
            write(RENAME, VALUES)

    assert name() == "old"


def test_reading_needs_no_transaction():
    assert not connection.in_atomic_block
    assert one_row(NAME, ["vision"]) == ("old",)
    assert one_row(NAME, ["nobody's"]) is None


NAMES = "SELECT name FROM tracker_run WHERE name = ANY(%s) ORDER BY name"
NAMES_OF_RUNS = (
    "SELECT id, name FROM tracker_run WHERE id IN ({runs}) AND name = ANY(%s)"
)


@pytest.fixture
def runs():
    project = make_project(make_member("ada"))
    return [make_run(project, name) for name in "abcde"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param([], [], id="none"),
        pytest.param(["b", "x", "a", "b"], ["a", "b"], id="some"),
        pytest.param(["'\"\\☃"], [], id="what must be escaped"),
    ],
)
def test_rows_are_found_by_any_of_many_values(names, expected, runs):
    assert [name for (name,) in every_row(NAMES, [many(names)])] == expected


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_rows_are_found_by_their_runs(count, runs):
    ids = [run.id for run in runs[:count]]
    found = every_row(NAMES_OF_RUNS, [many("abcd")], run_ids=ids)

    assert {name for _, name in found} == set("abcd"[:count])
