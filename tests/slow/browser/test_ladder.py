"""A ladder as a person makes it, reads it and watches it grow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.builders import make_project, make_run
from tests.ladder_runs import DEMO, NOTES, Job, log_job, make_measured_run, settle
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.models import Ladder

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def ladder(project):
    runs = [make_measured_run(project, job) for job in DEMO]
    rungs = [
        RungRequest(str(run.id), note) for run, note in zip(runs, NOTES, strict=True)
    ]
    return create_ladder(project, "faster", rungs)


def test_shows_where_the_time_goes_and_what_each_rung_was_worth(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/", ada)

    figure = page.get_by_role("group", name="Time breakdown, one bar per run")
    expect(figure.locator(".trace.bars")).to_have_count(4)
    expect(figure).to_contain_text("decoded ahead")
    expect(page.get_by_role("region", name="Summary")).to_contain_text("× faster")
    expect(page.get_by_role("article")).to_have_count(4)


def test_bars_can_be_of_a_step_instead_of_an_example(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/", ada)
    figure = page.get_by_role("group", name="Time breakdown, one bar per run")
    expect(figure).to_contain_text("milliseconds per example")

    page.get_by_role("link", name="Per step").click()

    expect(figure).to_contain_text("milliseconds per step")


def test_another_quality_is_shown_as_soon_as_it_is_chosen(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/", ada)

    page.get_by_label("Quality").select_option("train/loss")

    expect(page).to_have_url(re.compile("quality=train%2Floss"))
    expect(page.get_by_role("article").first.get_by_text("loss")).to_be_visible()


def test_a_running_rung_fills_in_without_a_reload(visit, ada, project):
    first = make_measured_run(project, DEMO[0])
    short = Job("growing", steps=15, wait_seconds=0.01)
    growing = make_measured_run(project, short, is_live=True)
    rungs = [RungRequest(str(run.id)) for run in (first, growing)]
    ladder = create_ladder(project, "faster", rungs)
    page = visit(f"/ladders/{ladder.id}/", ada)
    rung = page.get_by_role("article").nth(1)
    expect(rung).to_contain_text("not enough steady steps to judge")
    page.evaluate("window.isTheSamePage = true")

    log_job(project, Job("growing", steps=300, wait_seconds=0.01))
    settle(growing)

    expect(rung).to_contain_text("× faster", timeout=20_000)
    assert page.evaluate("window.isTheSamePage")


def test_a_comparison_becomes_a_ladder(visit, ada, project):
    runs = [make_run(project, name, "finished") for name in ("first", "second")]
    ids = ",".join(str(run.id) for run in runs)
    page = visit(f"/w/ada-workspace/vision/compare?runs={ids}", ada)

    page.get_by_role("link", name="Create ladder").click()
    page.get_by_label("Name", exact=True).fill("Faster decoding")
    page.get_by_label("Change in second").fill("decoded ahead")
    page.get_by_role("button", name="Create ladder").click()

    expect(page.get_by_role("heading", name="Faster decoding")).to_be_visible()
    expect(page.get_by_role("article").nth(1)).to_contain_text("decoded ahead")


def test_rungs_move_and_leave_before_anything_is_saved(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/edit", ada)
    rungs = page.locator(".ladder-form__rung")

    page.get_by_role("button", name="Move decoded up").click()
    expect(rungs.first).to_contain_text("decoded")
    page.get_by_role("button", name="Remove batch-64").click()
    expect(rungs).to_have_count(3)
    assert ladder.rungs.count() == 4

    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.get_by_role("article")).to_have_count(3)
    assert [rung.run.name for rung in ladder.rungs.all()] == [
        "decoded",
        "baseline",
        "workers",
    ]


def test_enter_in_the_name_saves_rather_than_moves(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/edit", ada)

    page.get_by_label("Name", exact=True).fill("Fastest")
    page.get_by_label("Name", exact=True).press("Enter")

    expect(page.get_by_role("heading", name="Fastest")).to_be_visible()


def test_deleting_offers_to_undo_it(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/edit", ada)

    page.get_by_role("button", name="Move to trash").click()
    expect(page.get_by_role("heading", name="No ladders yet")).to_be_visible()
    assert not Ladder.objects.exists()

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name=ladder.name)).to_be_visible()
    assert Ladder.objects.get() == ladder


def test_rungs_are_moved_by_keys(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/edit", ada)
    rungs = page.locator(".ladder-form__rung")

    page.get_by_role("button", name="Move baseline with the arrow keys").press("End")
    expect(rungs.last).to_contain_text("baseline")
    expect(page.get_by_text("baseline: position 3 of 3")).to_have_count(1)

    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.get_by_role("article")).to_have_count(4)
    assert ladder.rungs.last().run.name == "baseline"


def test_rungs_are_dragged_by_their_handle(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/edit", ada)
    rungs = page.locator(".ladder-form__rung")
    handle = page.get_by_role(
        "button", name="Move baseline with the arrow keys"
    ).bounding_box()
    target = rungs.nth(2).bounding_box()

    page.mouse.move(handle["x"] + 5, handle["y"] + 5)
    page.mouse.down()
    page.mouse.move(handle["x"] + 5, target["y"] + target["height"] - 2, steps=8)
    page.mouse.up()

    expect(rungs.nth(2)).to_contain_text("baseline")
    expect(rungs.nth(0).locator('[data-part="number"]')).to_have_text("0")


def test_a_note_is_edited_where_it_stands(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/", ada)
    rung = page.get_by_role("article").nth(0)

    rung.get_by_text("Describe baseline").click()
    rung.get_by_role("textbox", name="Note of").fill("All as it was")
    rung.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("article").nth(0)).to_contain_text("All as it was")


def test_a_missing_note_takes_no_row(visit, ada, ladder):
    page = visit(f"/ladders/{ladder.id}/", ada)
    rung = page.get_by_role("article").nth(0)
    button, state = rung.get_by_text("Describe baseline"), rung.locator(".chip").first

    first, second = button.bounding_box(), state.bounding_box()
    assert first["x"] > second["x"] + second["width"]
    assert abs(first["y"] - second["y"]) < first["height"]

    button.click()
    field = rung.get_by_role("textbox", name="Note of").bounding_box()
    assert field["x"] < second["x"]
    assert field["width"] > 400


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_report_is_printed_on_white(visit, ada, ladder, theme):
    page = visit(f"/ladders/{ladder.id}/report", ada)
    page.emulate_media(media="print", color_scheme=theme)

    page_colour = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(page_colour) == "rgb(255, 255, 255)"
    expect(page.get_by_role("button", name="Print")).to_be_hidden()
    expect(page.locator(".ladder-report__bar")).to_have_count(4)
