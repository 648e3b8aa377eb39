"""Safe Markdown to HTML: no scripts, styles or external content.

It is CommonMark with tables and strikethrough. HTML is shown as text. Images are drawn
only if they are files of runs; others become links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.utils.html import format_html
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

# Links may lead to Seamark pages, to the web and to email addresses only.
SCHEMES = ("", "http", "https", "mailto")
OWN_PICTURE = re.compile(r"^/runs/[0-9a-f-]{36}/files/picture\?[^\s]*$")
# A code block of this language is a widget; see web/pages/reports/blocks.py.
WIDGET, WIDGET_KIND = "seamark", "widget"
NO_TRUST = "noopener noreferrer nofollow ugc"
# Deeper lists and quotes are read as text.
MAX_NESTED = 20

Environment = MutableMapping[str, Any]
# Kinds of top-level blocks, by their opening token.
KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A top-level block of a text, such as a heading or a list.

    `words` is the visible text; for a widget, the lines of its block. Blocks without
    text, such as a horizontal rule, have no kind.
    """

    kind: str
    words: str
    tokens: Sequence[Token]


def rendered(
    text: str,
    widget: Callable[[str], str] | None = None,
    *,
    outside: Callable[[str], str] | None = None,
) -> SafeString:
    """Return the HTML of a text; `widget` renders each block with a widget.

    With `outside`, the text is for readers without access to our pages: links to them
    become plain text, and `outside` returns the address of a picture, or "".
    """
    html: str = MARKDOWN.render(text, {"widget": widget, "outside": outside})
    return SafeString(html)


def parts_of(text: str) -> list[Part]:
    """Return the blocks that stand by themselves in a text, in order."""
    blocks = _standing(MARKDOWN.parse(text))
    return [Part(*_kind_and_text(tokens), tokens) for tokens in blocks]


def rendered_part(part: Part, widget: Callable[[str], str]) -> SafeString:
    """Return the HTML of one block, for readers with access to our pages."""
    environment: Environment = {"widget": widget, "outside": None}
    html: str = MARKDOWN.renderer.render(part.tokens, MARKDOWN.options, environment)
    return SafeString(html)


def rendered_remark(text: str) -> SafeString:
    """Return the HTML of a short text next to others: headings become plain text."""
    html: str = REMARKS.render(text, {})
    return SafeString(html)


def _standing(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Divide tokens into blocks that stand by themselves."""
    block: list[Token] = []
    depth = 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if not depth:
            yield block
            block = []


def _kind_and_text(tokens: Sequence[Token]) -> tuple[str, str]:
    """Return the kind of a block and its words."""
    first = tokens[0]
    is_widget = first.type == "fence" and _language(first) == WIDGET
    kind = WIDGET_KIND if is_widget else KINDS.get(first.type, "")
    words = " ".join(" ".join(map(_words, tokens)).split())
    return (kind, words) if words else ("", "")


def _words(token: Token) -> str:
    if token.type in ("fence", "code_block", "text", "code_inline"):
        return ", ".join(token.content.strip("\n").splitlines())
    if token.type == "image":
        return token.content or "picture"
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "".join(map(_words, token.children or ()))


def pictures_of(text: str) -> list[str]:
    """Return the addresses of Seamark images in a text, in order."""
    return [
        address
        for token in _within(MARKDOWN.parse(text))
        if token.type == "image"
        and OWN_PICTURE.match(address := str(token.attrGet("src") or ""))
    ]


def _within(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _within(token.children or ())


def blocks_of(text: str) -> list[str]:
    """Return the contents of widget blocks, in order."""
    return [
        token.content
        for token in MARKDOWN.parse(text)
        if token.type == "fence" and _language(token) == WIDGET
    ]


def is_safe_link(address: str) -> bool:
    # Browsers ignore these within a scheme.
    bare = re.sub(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]", "", address)
    try:
        parts = urlsplit(bare)
    except ValueError:
        return False
    # "//host" leads elsewhere, with the scheme of this page, and so does "/\host".
    leads_away = bare.replace("\\", "/").startswith("//")
    return parts.scheme.lower() in SCHEMES and not leads_away


def _is_own(address: str) -> bool:
    """Return whether an address can be a relative link to one of our pages."""
    try:
        return not urlsplit(address).scheme and not address.startswith("#")
    except ValueError:
        return True


def _language(token: Token) -> str:
    return token.info.strip().split(" ")[0] if token.info.strip() else ""


def _fence(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    _options: OptionsDict,
    environment: Environment,
) -> str:
    token = tokens[place]
    draw = environment.get("widget")
    if _language(token) == WIDGET and draw is not None:
        return str(draw(token.content))
    return format_html(
        '<pre tabindex="0"><code>{}</code></pre>\n', token.content.rstrip("\n")
    )


def _link_open(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    environment: Environment,
) -> str:
    token = tokens[place]
    token.attrSet("rel", NO_TRUST)
    if environment.get("outside") and _is_own(str(token.attrGet("href") or "")):
        # Links are not within links, so the next end is its own.
        end = next(each for each in tokens[place:] if each.type == "link_close")
        token.tag = end.tag = "span"
        token.attrs = {}
    return renderer.renderToken(tokens, place, options, environment)


def _image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    environment: Environment,
) -> str:
    token = tokens[place]
    address = str(token.attrGet("src") or "")
    words = renderer.renderInlineAsText(token.children or [], options, environment)
    outside = environment.get("outside")
    is_ours = OWN_PICTURE.match(address)
    if outside is not None and _is_own(address):
        address = outside(address) if is_ours else ""
        if not address:
            return format_html("<span>picture: {}</span>", words)
    if is_ours:
        return format_html('<img src="{}" alt="{}" loading="lazy">', address, words)
    return format_html(
        '<a href="{}" rel="{}">{}</a>',
        address,
        NO_TRUST,
        f"picture: {words or address}",
    )


def _cell_open(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    environment: Environment,
) -> str:
    token = tokens[place]
    side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
    if side:
        token.attrSet("class", f"markdown__{side}")
    return renderer.renderToken(tokens, place, options, environment)


def _made() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTED})
    made.enable(["table", "strikethrough"])
    made.validateLink = is_safe_link  # type: ignore[method-assign,assignment]
    made.add_render_rule("fence", _fence)
    made.add_render_rule("link_open", _link_open)
    made.add_render_rule("image", _image)
    made.add_render_rule("th_open", _cell_open)
    made.add_render_rule("td_open", _cell_open)
    return made


MARKDOWN = _made()
REMARKS = _made().disable(["heading", "lheading"])
