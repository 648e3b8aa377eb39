"""What a kind of thing has to say so that links can lead to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from tracker.actor import Part
from tracker.errors import NotFound
from tracker.models import Project


@dataclass(frozen=True, slots=True)
class Chosen:
    """What somebody wants to share: how it is known, and how its page is to open."""

    thing: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class Shared:
    """A thing as it is now, and the ids of everything that its link lets see."""

    title: str
    things: Mapping[str, frozenset[UUID]]


def all_of(query: str, _parts: frozenset[Part]) -> str:
    return query


def things_of(chosen: Collection[Chosen]) -> list[str]:
    return [each.thing for each in chosen]


@dataclass(frozen=True, slots=True)
class Kind:
    """`read` leaves out what is no longer there; links to that lead nowhere."""

    name: str
    noun: str  # within a sentence
    contents: str  # what its link shows, for whoever makes one
    choose: Callable[[Project, str], Chosen]
    # By what each is known.
    read: Callable[[Project, Collection[Chosen]], dict[str, Shared]]
    # Of the page, with its query; relative to where the link's pages are.
    address: Callable[[Project, Shared, str], str]
    # Whether its link may show it as it is when the link is made.
    can_freeze: bool = False
    # What a link with these ticks keeps of the query that was chosen.
    kept: Callable[[str, frozenset[Part]], str] = all_of


def as_id(text: str, what: str) -> UUID:
    """Read an id that came from outside."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound(what) from error
