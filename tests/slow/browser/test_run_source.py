"""A run's source tab, used to reproduce the run."""

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run
from tests.web.pages.run_files.test_source import CAPTURED, write_captured

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PACKAGES = "\n".join(f"package-{n}=={n}.0" for n in range(100))


@pytest.fixture
def run(ada):
    run = make_run(make_project(ada), state="finished")
    write_captured(run, {**CAPTURED, "packages/list": PACKAGES})
    return run


@pytest.fixture
def source(run, visit, ada):
    return lambda: visit(f"/runs/{run.id}/source", ada)


def test_packages_are_found_by_a_part_of_their_name(source):
    page = source()
    packages = page.locator("#packages tbody tr")

    page.get_by_label("Filter packages").fill("AGE-77")

    expect(packages.filter(visible=True)).to_have_count(1)
    expect(page.locator("#packages-count")).to_have_text("1 of 100")
    page.get_by_label("Filter packages").fill("")
    expect(packages.filter(visible=True)).to_have_count(100)


def test_added_and_removed_lines_differ_in_colour(source):
    page = source()
    colours = [
        page.locator(f".diff__line--{kind}").first.evaluate(
            "line => getComputedStyle(line).backgroundColor"
        )
        for kind in ("added", "removed", "hunk")
    ]

    assert len(set(colours)) == 3
