"""The interface of a kind of object that share links can open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from tracker.actor import Part
from tracker.errors import NotFound
from tracker.models import Project


@dataclass(frozen=True, slots=True)
class Chosen:
    """The object to share: its identifier, and the query string of its page."""

    thing: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class Shared:
    """The current state of a shared object, and the ids that its link makes readable."""

    title: str
    things: Mapping[str, frozenset[UUID]]


def all_of(query: str, _parts: frozenset[Part]) -> str:
    return query


def things_of(chosen: Collection[Chosen]) -> list[str]:
    return [each.thing for each in chosen]


@dataclass(frozen=True, slots=True)
class Kind:
    """`read` skips objects that no longer exist; their links do not work."""

    name: str
    noun: str  # within a sentence
    contents: str  # the contents of the link, for its creator
    choose: Callable[[Project, str], Chosen]
    # By identifier.
    read: Callable[[Project, Collection[Chosen]], dict[str, Shared]]
    # The page with its query; relative to the link's pages.
    address: Callable[[Project, Shared, str], str]
    # Whether its link may show the state at the time of its creation.
    can_freeze: bool = False
    # The part of the query that a link with these parts keeps.
    kept: Callable[[str, frozenset[Part]], str] = all_of


def as_id(text: str, what: str) -> UUID:
    """Parse an untrusted id; raise NotFound if it is invalid."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound(what) from error
