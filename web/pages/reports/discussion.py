"""The discussion of a report by members: threads next to passages, below, or orphaned.

All threads in one position form a *region*, which is sent as a whole after a change.
Visitors by share link see none of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from tracker.access.projects import may_edit, may_own
from tracker.actions.report_comments import LONGEST_QUOTE, Passage
from tracker.actions.reports import MAX_VERSIONS
from tracker.actor import Actor
from tracker.errors import NotFound
from tracker.queries.reports.comments import Thread, threads_of
from web.markdown import WIDGET_KIND, Part, parts_of, rendered_part
from web.pages.dashboards.widget_drawing import Audience
from web.pages.reports.passages import Discussion, discussion_of, passages_of
from web.pages.reports.text import drawing_for

# Regions that are no passage's.
WHOLE, EARLIER = "report", "earlier"
SHOWN_OF_QUOTE = 90


@dataclass(frozen=True, slots=True)
class ThreadView:
    thread: Thread
    # The quoted passage, if the thread is shown elsewhere.
    was: str
    is_of_other_version: bool
    # Whether that version is still stored.
    is_kept: bool
    may_settle: bool


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A passage that has comments, and how many of its threads are not settled."""

    key: str
    name: str
    count: int
    open_count: int


class DiscussedReport:
    """One version of a report for one member, with cached queries."""

    # Any: a row of a table, which pages do not import.
    def __init__(self, actor: Actor, report: Any, text: str, version: int) -> None:
        self.report, self.text, self.version = report, text, version
        self.user_id = actor.user_id
        self.may_edit = may_edit(actor, report.project)
        self.may_own = may_own(actor, report.project)

    @cached_property
    def parts(self) -> list[Part]:
        return parts_of(self.text)

    @cached_property
    def passages(self) -> list[Passage | None]:
        return passages_of(self.parts)

    @cached_property
    def discussion(self) -> Discussion:
        return discussion_of(threads_of(self.report), self.passages)

    def passage(self, key: str) -> Passage:
        if key not in self._by_key:
            raise NotFound("place in this version")
        return self._by_key[key]

    @cached_property
    def _by_key(self) -> dict[str, Passage]:
        return {each.key: each for each in self.passages if each is not None}

    def region_of(self, thread_id: int) -> str:
        """Return in which region a thread stands."""
        places = {WHOLE: self.discussion.whole, EARLIER: self.discussion.earlier}
        for region, threads in (places | self.discussion.beside).items():
            if any(thread.first.id == thread_id for thread in threads):
                return region
        raise NotFound("comment")

    def threads_in(self, region: str) -> list[ThreadView]:
        if region == WHOLE:
            return [self._view(each, "") for each in self.discussion.whole]
        if region == EARLIER:
            return [self._view(each, "") for each in self.discussion.earlier]
        words = self.passage(region).words
        return [self._view(each, words) for each in self.discussion.beside[region]]

    @cached_property
    def index(self) -> list[IndexEntry]:
        """Return the passages with comments, in order."""
        return [
            IndexEntry(
                key,
                passage_name(self.passage(key)),
                sum(thread.count for thread in threads),
                sum(thread.resolved_at is None for thread in threads),
            )
            for key, threads in self.discussion.beside.items()
            if threads
        ]

    def _view(self, thread: Thread, words: str) -> ThreadView:
        is_same = thread.quote == words[:LONGEST_QUOTE]
        return ThreadView(
            thread,
            was="" if is_same else thread.quote,
            is_of_other_version=thread.first.version != self.version,
            is_kept=thread.first.version > self.report.version - MAX_VERSIONS,
            may_settle=self.may_edit or thread.first.author_id == self.user_id,
        )


def region_html(
    request: HttpRequest,
    discussed: DiscussedReport,
    region: str,
    *,
    is_open: bool = False,
    is_asked: bool = False,
    are_all_open: bool = False,
) -> SafeString:
    """Return the region in one position, with the form for more.

    `is_asked`: show the form; `are_all_open`: fold nothing.
    """
    threads = discussed.threads_in(region)
    context: dict[str, Any] = {
        "discussed": discussed,
        "report": discussed.report,
        "region": region,
        "threads": threads,
        "count": sum(view.thread.count for view in threads),
        "open_count": sum(view.thread.resolved_at is None for view in threads),
        "is_open": is_open or (are_all_open and bool(threads)),
        "is_asked": is_asked,
        "are_all_open": are_all_open,
        "has_form": bool(threads) or is_open,
    }
    if region not in (WHOLE, EARLIER):
        passage = discussed.passage(region)
        context |= {"passage": passage, "passage_name": passage_name(passage)}
    name = {WHOLE: "_remarks_whole", EARLIER: "_remarks_earlier"}.get(
        region, "_remarks"
    )
    # Most of hundreds of passages have no form, and skip the reader's query.
    asker = request if context["has_form"] or region == WHOLE else None
    return render_to_string(f"reports/{name}.html", context, asker)


def discussed_html(
    request: HttpRequest,
    discussed: DiscussedReport,
    audience: Audience,
    *,
    opened: str = "",
    are_all_open: bool = False,
) -> SafeString:
    """Return the text with the comments next to each passage."""
    draw = drawing_for(audience)

    def shown(part: Part, passage: Passage | None) -> SafeString:
        html = rendered_part(part, draw)
        if passage is None:
            return html
        is_opened = passage.key == opened
        return format_html(
            '<div class="passage passage--{}" id="passage-{}">{}{}</div>\n',
            passage.kind,
            passage.key,
            html,
            region_html(
                request,
                discussed,
                passage.key,
                is_open=is_opened,
                is_asked=is_opened,
                are_all_open=are_all_open,
            ),
        )

    pairs = zip(discussed.parts, discussed.passages, strict=True)
    return format_html_join("", "{}", ((shown(*pair),) for pair in pairs))


def passage_name(passage: Passage) -> str:
    """Return the name of a passage: its beginning, or a widget's kind and title."""
    words = passage.words
    if passage.kind == WIDGET_KIND:
        fields = dict(line.split(": ", 1) for line in words.split(", ") if ": " in line)
        words = f"{fields.pop('widget', passage.kind)}: {fields.get('title') or words}"
    return words if len(words) <= SHOWN_OF_QUOTE else f"{words[: SHOWN_OF_QUOTE - 1]}…"
