"""Pictures of every page: where they lie, and the page to look through them."""

from __future__ import annotations

from tests.every_picture import Picture, index_of

HOSTILE = "compare?runs={runs}&tab=<b>../../etc"


def picture(page: str, theme: str = "light") -> Picture:
    return Picture("one", page, "wide", theme)


def test_no_name_leads_out_of_the_folder():
    assert picture(HOSTILE).file == "one/compare-runs-runs-tab-b-etc-wide-light.png"
    assert picture("../..").file == "one/page-wide-light.png"


def test_the_index_shows_each_picture_under_the_name_of_its_page():
    pictures = [picture("runs"), picture(HOSTILE), picture("runs", "dark")]

    page = index_of(pictures)

    for each in pictures:
        assert f'src="{each.file}"' in page
    assert page.count("<section>") == 2
    assert "3 pictures" in page
    assert "<b>" not in page
