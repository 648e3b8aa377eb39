"""The charts of a page in sections, as the user arranged them (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import orjson
from django.utils.translation import gettext

from web.pages.charts.arrangement import Arrangement, Key, chart_key
from web.pages.charts.sections import SMALL, Section, chart_sections
from web.pages.compare.divided_runs import Part

PINNED, JOINED = "pinned", "joined"
# Charts in the page's HTML, per section and in total. Scripts add the others from their
# paths when the reader scrolls to them.
MAX_SECTION_CHARTS, MAX_PAGE_CHARTS = 24, 240
# With fewer sections, a page has no index. Mirrored in section_index.js.
MIN_INDEXED = 6
# Paths of a section that the page lists; the search finds the others.
MAX_SECTION_PATHS = 2_000


@dataclass(frozen=True, slots=True)
class Card:
    """A chart as the page has it before it is drawn."""

    key: str
    paths: Key
    is_map: bool = False
    columns: int = 0  # 0: as all others
    height: int = 0
    is_log: bool = False
    # Not matched by the search; sent for further typing.
    is_hidden: bool = False
    # For charts divided by a value: the index of the part, and the part.
    place: int = 0
    part: Part | None = None

    @property
    def title(self) -> str:
        return ", ".join(self.paths)

    @property
    def name(self) -> str:
        """Return an id that is unique on its page."""
        if self.part is not None:
            return f"{self.title}, {self.part.label}"
        return self.title if len(self.paths) == 1 else self.key

    @property
    def query(self) -> str:
        part = "" if self.part is None else f"&part={self.place}"
        return urlencode({"path": self.paths}, doseq=True) + part

    @property
    def batch_query(self) -> str:
        """The query of this chart in a request for many."""
        return self.query + ("&own=log" if self.is_log else "")


@dataclass(frozen=True, slots=True)
class Grid:
    """Charts side by side; with a title, those of one chart that is divided."""

    cards: list[Card]
    title: str = ""


@dataclass(frozen=True, slots=True)
class CardSection:
    """Charts under one heading: a namespace, or the reader's choice.

    `total` counts the charts of a namespace. `rest` are further paths in order, which
    scripts add when the reader scrolls to them.
    """

    name: str
    title: str
    grids: list[Grid]
    is_open: bool = True
    is_chosen: bool = False
    is_divided: bool = False
    rest: Sequence[str] = ()
    total: int = 0

    @property
    def has_charts(self) -> bool:
        """Return whether the section has charts, also if the search hides them."""
        return bool(self.cards or self.rest)

    @property
    def rest_json(self) -> str:
        return orjson.dumps(list(self.rest)).decode()

    @property
    def cards(self) -> list[Card]:
        return [card for grid in self.grids for card in grid.cards]

    @property
    def shown_count(self) -> int:
        if not self.is_chosen:
            return self.total
        if self.is_divided:
            return len(self.grids)
        return sum(not card.is_hidden for card in self.cards)

    @property
    def unnamed_count(self) -> int:
        """Count the charts that only a narrower search lists."""
        if self.is_chosen:
            return 0
        listed = len(self.grids) if self.is_divided else len(self.cards)
        return max(0, self.total - listed - len(self.rest))

    @property
    def is_small(self) -> bool:
        if self.is_chosen or self.is_divided:
            return False
        return self.shown_count <= SMALL


def card_sections(
    paths: Collection[str],
    arrangement: Arrangement,
    *,
    maps: Collection[str] = (),
    matching: Collection[str] | None = None,
    opens_all: bool = False,
    parts: Sequence[Part] = (),
    sharing: Mapping[str, int] | None = None,
) -> list[CardSection]:
    """Return the pinned, the joined, and a chart for each path in its namespace.

    `matching` is the result of a search, `parts` the division of each chart, `sharing`
    ranks paths by the runs that have them.
    """
    everything = frozenset(paths)
    found = everything if matching is None else frozenset(matching)
    make = _Maker(arrangement, found, frozenset(maps), parts)
    pinned = frozenset(arrangement.pinned)
    joined = [key for key in arrangement.joined if key not in pinned]
    sections = [
        make.chosen(PINNED, gettext("Pinned"), arrangement.pinned, everything),
        make.chosen(JOINED, gettext("Combined"), joined, everything),
    ]
    room = MAX_PAGE_CHARTS // max(1, len(parts))
    for section in chart_sections(
        paths,
        opens_all=opens_all,
        folded=arrangement.folded,
        unfolded=arrangement.unfolded,
        sharing=sharing,
    ):
        own = [path for path in section.paths if (path,) not in pinned]
        made = make.namespace(replace(section, paths=own), room=room)
        room -= len(made.grids if parts else made.cards)
        sections.append(made)
    return sections


def is_indexed(sections: Iterable[CardSection]) -> bool:
    """Return whether the page has an index of its sections."""
    return sum(section.has_charts for section in sections) >= MIN_INDEXED


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the sections of one page; `found` are the paths that it shows."""

    arrangement: Arrangement
    found: frozenset[str]
    maps: frozenset[str]
    parts: Sequence[Part]

    def chosen(
        self, name: str, title: str, keys: Iterable[Key], known: frozenset[str]
    ) -> CardSection:
        grids = self._grids(key for key in keys if not known.isdisjoint(key))
        return CardSection(
            name, title, grids, is_chosen=True, is_divided=bool(self.parts)
        )

    def namespace(self, section: Section, *, room: int) -> CardSection:
        """List the first charts, if the section is open, and name the others."""
        found: list[str] = []
        other: list[str] = []
        for path in section.paths:
            (found if path in self.found else other).append(path)
        count = min(MAX_SECTION_CHARTS, room) if section.is_open else 0
        rest = [*found[count:], *other]
        return CardSection(
            section.namespace,
            section.namespace,
            self._grids((path,) for path in found[:count]),
            section.is_open,
            is_divided=bool(self.parts),
            rest=rest[:MAX_SECTION_PATHS],
            total=len(found),
        )

    def _grids(self, keys: Iterable[Key]) -> list[Grid]:
        cards = [self._card(key) for key in keys]
        if not self.parts:
            return [Grid(cards)]
        return [
            Grid(
                [
                    replace(each, place=place, part=part)
                    for place, part in enumerate(self.parts)
                ],
                each.title,
            )
            for each in cards
        ]

    def _card(self, key: Key) -> Card:
        columns, height = self.arrangement.sizes.get(key, (0, 0))
        return Card(
            chart_key(key),
            key,
            is_map=len(key) == 1 and key[0] in self.maps,
            columns=columns,
            height=height,
            is_log=key in self.arrangement.log,
            is_hidden=self.found.isdisjoint(key),
        )


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
