"""Markdown that people wrote, some of them with bad intent."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as some

from web.markdown import blocks_of, is_safe_link, pictures_of, rendered

TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "hr"),
    *("pre", "code", "em", "strong", "s", "a", "img", "br"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    "a": {"href", "rel", "title"},
    "img": {"src", "alt", "loading"},
    "pre": {"tabindex"},
    "ol": {"start"},
    "th": {"class"},
    "td": {"class"},
}
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<style>*{background:url(//evil.test)}</style>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<!--><script>alert(1)</script-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A&#x61&#x76&#x61script:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:image/svg+xml,<svg onload=alert(1)>)",
    "[x](file:///etc/passwd)",
    "[x](//evil.test/x)",
    "[x](/\\evil.test/x)",
    "[x]( javascript:alert(1) 'y')",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "![x](https://evil.test/pixel.gif)",
    "![x](//evil.test/pixel.gif)",
    "![x](data:image/png;base64,AAAA)",
    "![x](/sign-out)",
    "![x](/runs/../sign-out)",
    '![x" onerror="alert(1)](/runs/00000000-0000-0000-0000-000000000000/files/picture?path=x)',
    '![x](/runs/00000000-0000-0000-0000-000000000000/files/picture?path=x"onerror="alert(1))',
    '[x](https://example.com "\\" onmouseover=\\"alert(1)")',
    "[x]: javascript:alert(1)\n\n[x]",
    '```"><script>alert(1)</script>\nx\n```',
    "```seamark\n<script>alert(1)</script>\n```",
    "`<script>alert(1)</script>`",
    "| a |\n|:--style=x-|\n| <b onclick=alert(1)> |",
    "| a |\n|---:|\n| <b onclick=alert(1)> |",
    "{{7*7}} {% load x %} %s%n ${1}",
    "__proto__ constructor toString",
    '=HYPERLINK("https://evil.test")',
    "\u202ethe end\u202d",
]


class Inert(HTMLParser):
    """Notes every tag and attribute that a text may not become."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS:
            self.faults.append(tag)
        for name, value in attributes:
            if name not in ATTRIBUTES.get(tag, ()):
                self.faults.append(f"{tag} {name}")
            if name == "href" and not is_safe_link(value):
                self.faults.append(f"{tag} leads to {value}")
            if name == "src" and not value.startswith("/runs/"):
                self.faults.append(f"{tag} loads {value}")

    def handle_comment(self, data):
        self.faults.append(f"comment {data}")

    def handle_decl(self, declaration):
        self.faults.append(declaration)


def faults_in(html: str) -> list[str]:
    parser = Inert()
    parser.feed(html)
    parser.close()
    return parser.faults


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_can_do_nothing(text):
    for written in (text, f"# {text}", f"- {text}", f"> {text}", f"**{text}**"):
        assert faults_in(rendered(written)) == []


@given(some.lists(some.sampled_from([*HOSTILE, "*", "`", "\n", "> ", "[", "](", "<"])))
def test_no_mixture_of_it_can_do_anything(parts):
    assert faults_in(rendered("".join(parts))) == []


@given(some.text())
def test_any_text_can_be_rendered(text):
    assert faults_in(rendered(text)) == []


def test_links_tell_their_target_nothing_and_get_no_credit():
    html = rendered("[a](https://example.com) <https://example.com/b>")

    assert (
        re.findall(r'rel="([^"]*)"', html) == ["noopener noreferrer nofollow ugc"] * 2
    )


@pytest.mark.parametrize(
    "address",
    ["https://a.test/b?c#d", "http://a.test", "/runs/", "#top", "mailto:a@b.test", "x"],
)
def test_ordinary_links_stay(address):
    assert f'href="{address}"' in rendered(f"[a]({address})")


def test_a_picture_of_a_run_is_drawn_and_one_from_elsewhere_is_a_link():
    own = "/runs/00000000-0000-0000-0000-000000000000/files/picture?path=a%2Fb.png"

    assert f'<img src="{own}" alt="mine" loading="lazy">' in rendered(f"![mine]({own})")
    assert "<img" not in rendered("![theirs](https://example.com/a.png)")
    assert "picture: theirs</a>" in rendered("![theirs](https://example.com/a.png)")


OWN = "/runs/00000000-0000-0000-0000-000000000000/files/picture?path=a"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('[a *run*](/runs/7/ "of ours")', "<p><span>a <em>run</em></span></p>"),
        ("[a run](../7/) [b](ladders/)", "<p><span>a run</span> <span>b</span></p>"),
        (
            f"![curve]({OWN})",
            '<p><img src="/elsewhere" alt="curve" loading="lazy"></p>',
        ),
        (f"[![curve]({OWN}2)](/x)", "<p><span><span>picture: curve</span></span></p>"),
        ("![x](/else.png)", "<p><span>picture: x</span></p>"),
    ],
)
def test_outside_nothing_leads_to_a_page_of_ours(text, shown):
    html = rendered(text, outside=lambda own: "/elsewhere" if own == OWN else "")

    assert html.strip() == shown


def test_outside_other_links_stay():
    text = "[paper](https://example.org/) [below](#end)"

    assert rendered(text, outside=lambda _: "") == rendered(text)


@given(some.text(max_size=200))
def test_outside_no_text_has_an_address_of_ours(text):
    shown = rendered(f"[x](/runs/{text}", outside=lambda _: "")

    assert 'href="/' not in shown


def test_pictures_of_a_text_are_found_wherever_they_stand():
    text = f"> - [![a]({OWN})](/x)\n\n![b](https://example.com/c.png) ![d]({OWN}&e)"

    assert pictures_of(text) == [OWN, f"{OWN}&e"]


def test_what_people_write_is_understood():
    html = rendered(
        "# Title\n\n**bold** ~~gone~~ `code`\n\n1. one\n2. two\n\n"
        "| a | b |\n|---|--:|\n| 1 | 2 |\n"
    )

    for part in ("<h1>Title</h1>", "<strong>bold</strong>", "<s>gone</s>", "<ol>"):
        assert part in html
    assert '<td class="markdown__right">2</td>' in html


def test_html_is_shown_as_it_was_typed():
    assert "&lt;b&gt;" in rendered("<b>bold</b>")


def test_a_block_of_ours_is_a_widget_and_others_are_code():
    text = "```seamark\na: b\n```\n\n```python\nx\n```\n\n- ```seamark\n  c: d\n  ```\n"
    drawn = []

    html = rendered(text, lambda block: drawn.append(block) or "<p>W</p>")

    assert drawn == blocks_of(text) == ["a: b\n", "c: d\n"]
    assert html.count("<p>W</p>") == 2
    assert "<code>x</code>" in html


def test_deep_nesting_costs_little():
    assert rendered(">" * 10_000 + " x")
    assert rendered("[" * 10_000)
    assert rendered("*a **b " * 3_000)
