"""Passages of a report, and matching of comments to the passages of other versions
(pure).

A passage is found by its text, at any position, or by similarity if the text has
changed a little.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tracker.actions.report_comments import LONGEST_QUOTE, Passage
from tracker.queries.reports.comments import Thread
from web.markdown import Part

# Beyond these, a text has no passages, and comments are about the whole of it.
MAX_PASSAGES = 500
# Maximum number of orphaned threads that are matched by similarity.
MAX_LOOKED_FOR = 100
# Dice coefficient of two passages' words.
ALIKE = 0.6
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Discussion:
    """Threads of one version: on the whole, on passages by key, and orphaned ones."""

    whole: list[Thread] = field(default_factory=list)
    beside: dict[str, list[Thread]] = field(default_factory=dict)
    earlier: list[Thread] = field(default_factory=list)

    @property
    def threads(self) -> list[Thread]:
        beside = (thread for threads in self.beside.values() for thread in threads)
        return [*self.whole, *beside, *self.earlier]

    @property
    def count(self) -> int:
        return sum(thread.count for thread in self.threads)

    @property
    def open_count(self) -> int:
        return sum(thread.resolved_at is None for thread in self.threads)


def passages_of(parts: Iterable[Part]) -> list[Passage | None]:
    """Return the passage of each part; None if it cannot be commented on."""
    met: Counter[str] = Counter()
    found: list[Passage | None] = []
    for part in parts:
        if not part.kind or met.total() >= MAX_PASSAGES:
            found.append(None)
            continue
        digest = _digest(part.kind, part.words)
        met[digest] += 1
        # The same words may stand in a text twice.
        key = digest if met[digest] == 1 else f"{digest}-{met[digest]}"
        found.append(Passage(key, part.kind, part.words))
    return found


def discussion_of(
    threads: Iterable[Thread], passages: Iterable[Passage | None]
) -> Discussion:
    """Assign each thread to its passage, to the whole report, or to the orphans."""
    known = [passage for passage in passages if passage is not None]
    found = Discussion(beside={passage.key: [] for passage in known})
    places = _Places(known)
    for thread in threads:
        if not thread.passage:
            found.whole.append(thread)
        elif key := places.of(thread):
            found.beside[key].append(thread)
        else:
            found.earlier.append(thread)
    return found


class _Places:
    """Finds the passages of one text that threads are about."""

    def __init__(self, known: Sequence[Passage]) -> None:
        self.known = known
        self.keys = {passage.key for passage in known}
        self.moved: dict[tuple[str, str], str] = {}

    def of(self, thread: Thread) -> str:
        """Return the key of the thread's passage, "" if it is gone."""
        if thread.passage in self.keys:
            return thread.passage
        # Some of several equal passages are left.
        first, _, _ = thread.passage.partition("-")
        if first in self.keys:
            return first
        sought = thread.passage_kind, thread.quote
        if sought not in self.moved and len(self.moved) < MAX_LOOKED_FOR:
            self.moved[sought] = self._most_alike(*sought)
        return self.moved.get(sought, "")

    def _most_alike(self, kind: str, quote: str) -> str:
        sought = _words(quote)
        likeness = (
            (_likeness(sought, words), passage.key)
            for passage, words in self._worded
            if passage.kind == kind
        )
        # The first of equally similar passages.
        best, key = max(likeness, key=lambda each: each[0], default=(0.0, ""))
        return key if best >= ALIKE else ""

    @cached_property
    def _worded(self) -> list[tuple[Passage, frozenset[str]]]:
        return [(each, _words(each.words[:LONGEST_QUOTE])) for each in self.known]


def _digest(kind: str, words: str) -> str:
    content = f"{kind}\n{words}".encode()
    return hashlib.blake2b(content, digest_size=6).hexdigest()


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.casefold()))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 0.0
