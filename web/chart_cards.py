"""The charts of a page in sections, as somebody arranged them (pure)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.utils.translation import gettext

from web.chart_arrangement import Arrangement, Key, chart_key
from web.chart_sections import SMALL, chart_sections
from web.divided_runs import Part

PINNED, JOINED = "pinned", "joined"


@dataclass(frozen=True, slots=True)
class Card:
    """A chart as the page has it before it is drawn."""

    key: str
    paths: Key
    is_map: bool = False
    columns: int = 0  # 0: as all others
    height: int = 0
    is_log: bool = False
    # The search did not find it; who types on may want it.
    is_hidden: bool = False
    # Where runs have charts of their own by a value: which it is, and whose.
    place: int = 0
    part: Part | None = None

    @property
    def title(self) -> str:
        return ", ".join(self.paths)

    @property
    def name(self) -> str:
        """Return what tells it from the others of its page."""
        if self.part is not None:
            return f"{self.title}, {self.part.label}"
        return self.title if len(self.paths) == 1 else self.key

    @property
    def query(self) -> str:
        part = "" if self.part is None else f"&part={self.place}"
        return urlencode({"path": self.paths}, doseq=True) + part

    @property
    def batch_query(self) -> str:
        """What asks for this chart, together with others."""
        return self.query + ("&own=log" if self.is_log else "")


@dataclass(frozen=True, slots=True)
class Grid:
    """Charts side by side; with a title, those of one chart that is divided."""

    cards: list[Card]
    title: str = ""


@dataclass(frozen=True, slots=True)
class CardSection:
    """Charts below one heading; those of people's own choice come first."""

    name: str
    title: str
    grids: list[Grid]
    is_open: bool = True
    is_chosen: bool = False

    @property
    def cards(self) -> list[Card]:
        return [card for grid in self.grids for card in grid.cards]

    @property
    def is_divided(self) -> bool:
        return any(grid.title for grid in self.grids)

    @property
    def shown_count(self) -> int:
        if self.is_divided:
            return len(self.grids)
        return sum(not card.is_hidden for card in self.cards)

    @property
    def is_small(self) -> bool:
        if self.is_chosen or self.is_divided:
            return False
        return self.shown_count <= SMALL


def card_sections(
    paths: Collection[str],
    arrangement: Arrangement,
    *,
    known: Collection[str] | None = None,
    maps: Collection[str] = (),
    matching: Collection[str] | None = None,
    opens_all: bool = False,
    parts: Sequence[Part] = (),
) -> list[CardSection]:
    """Return the pinned, the joined, and a chart for each path in its namespace.

    `known` are the series that chosen charts may be of, if more than `paths`; `matching`
    is what a search found, `parts` what each chart is divided into.
    """
    everything = frozenset(paths if known is None else known)
    found = everything if matching is None else frozenset(matching)

    def card(key: Key) -> Card:
        columns, height = arrangement.sizes.get(key, (0, 0))
        return Card(
            chart_key(key),
            key,
            is_map=len(key) == 1 and key[0] in maps,
            columns=columns,
            height=height,
            is_log=key in arrangement.log,
            is_hidden=found.isdisjoint(key),
        )

    def chosen(keys: Iterable[Key]) -> list[Grid]:
        kept = [key for key in keys if not everything.isdisjoint(key)]
        return _grids(kept, card, parts)

    pinned = frozenset(arrangement.pinned)
    joined = [key for key in arrangement.joined if key not in pinned]
    first = [
        CardSection(
            PINNED, gettext("Pinned"), chosen(arrangement.pinned), is_chosen=True
        ),
        CardSection(JOINED, gettext("Joined"), chosen(joined), is_chosen=True),
    ]
    return first + [
        CardSection(
            section.namespace,
            section.namespace,
            _grids([(path,) for path in section.paths], card, parts, without=pinned),
            section.is_open,
        )
        for section in chart_sections(
            paths,
            opens_all=opens_all,
            folded=arrangement.folded,
            unfolded=arrangement.unfolded,
        )
    ]


def _grids(
    keys: Iterable[Key],
    card: Callable[[Key], Card],
    parts: Sequence[Part],
    *,
    without: Collection[Key] = (),
) -> list[Grid]:
    cards = [card(key) for key in keys if key not in without]
    if not parts:
        return [Grid(cards)]
    return [
        Grid(
            [replace(each, place=place, part=part) for place, part in enumerate(parts)],
            each.title,
        )
        for each in cards
    ]


def first_of(
    sections: Iterable[CardSection],
    *,
    charts: int,
    lines: int,
    letters: int,
    runs: int = 1,
) -> list[Card]:
    """Return the charts at the top of the page that fit into one answer together."""
    found: list[Card] = []
    for section in sections:
        for card in section.cards if section.is_open else ():
            if card.is_hidden or card.is_map:
                continue
            lines -= len(card.paths) * runs
            letters -= len(urlencode({"": card.batch_query}))
            if len(found) >= charts or lines < 0 or letters < 0:
                return found
            found.append(card)
    return found
