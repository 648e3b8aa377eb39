"""Validates names, and limits the number of objects per project."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from tracker.errors import InvalidInput
from tracker.models import Project
from tracker.texts import is_storable


def checked_name(name: str, longest: int) -> str:
    """Return the name stripped; raise InvalidInput if it is invalid."""
    name = name.strip()
    if not 1 <= len(name) <= longest or not is_storable(name):
        raise InvalidInput("name", f"must be text of 1 to {longest} characters")
    return name


@contextmanager
def named_once(what: str) -> Iterator[None]:
    """Raise InvalidInput if the block violates a unique name."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise InvalidInput("name", f"is already the name of {what}") from error


def free_name(
    name: str, taken: Collection[str], longest: int, end_of: Callable[[int], str]
) -> str:
    """Return the name with the first suffix that makes it free, truncated to fit."""
    ends = map(end_of, count(1))
    names = (name[: longest - len(end)] + end for end in ends)
    return next(each for each in names if each not in taken)


# Any: rows of any table.
def expect_room(
    project: Project, rows: QuerySet[Any], most: int, field: str = "name"
) -> None:
    """Raise InvalidInput if there are `most` rows already; lock until the commit."""
    # Two concurrent requests would both see room for one more.
    Project.objects.select_for_update(no_key=True).get(id=project.id)
    if rows.count() >= most:
        raise InvalidInput(field, f"cannot be added; the limit is {most:,}")
