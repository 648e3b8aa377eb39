"""A user's way through a run's pages, from a finding to its dismissal."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.builders import (
    SECOND,
    START,
    make_project,
    make_run,
    records_message,
    write,
    write_tags,
    write_values,
)
from tests.slow.browser.accessibility import violations
from tests.slow.browser.conftest import PHONE, address_now
from tests.web.sample_run import make_sample_run, settle
from tracker.models import Finding

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DRAWN = ".chart[data-drawn=true]"
SOURCE = {
    "monitoring/train/git/commit": "3179d2f0a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "monitoring/train/source/arguments": "python train.py --lr 0.1 --workers 0",
    "monitoring/train/packages/list": "numpy==2.4.6\ntorch==2.9.0",
}


@pytest.fixture
def project(ada):
    return make_project(ada)


@pytest.fixture
def run(project):
    return make_sample_run(project, has_gpu=True)


def asked_of(url):
    return parse_qs(urlsplit(url).query)


def test_a_description_and_tags_are_written_where_they_are_read(
    visit, ada, project, run
):
    page = visit(f"/runs/{run.id}/", ada)

    page.locator("#run-describe > summary").click()
    page.get_by_label("Description").fill("Nothing loads ahead.")
    page.get_by_label("digits").check()
    page.get_by_label("Add tags").fill("slow, to fix")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".run__description")).to_have_text("Nothing loads ahead.")
    tags = page.locator("#run-header .run__title > a.chip")
    expect(tags).to_have_text(["baseline", "slow", "to fix"])
    tags.filter(has_text="slow").click()
    expect(page).to_have_url(re.compile(r"\?tag=slow"))
    expect(page.get_by_role("link", name=run.name)).to_be_visible()


def test_a_metric_is_pinned(visit, ada, project, run):
    write_values(run, {"preprocess/done": 1.0})
    page = visit(f"/runs/{run.id}/", ada)
    rows = page.locator(".metrics__table tbody tr")
    expect(rows.first).to_contain_text("accuracy")

    page.get_by_role("button", name="Pin preprocess/done").click()

    expect(rows.first).to_contain_text("preprocess/done")
    page.get_by_role("button", name="Unpin preprocess/done").click()
    expect(rows.first).to_contain_text("accuracy")


def test_keys_lead_to_the_runs_beside_it_and_stay_on_the_tab(visit, ada, project, run):
    before = make_run(project, "first", "finished", started_at=START - 10 * SECOND)
    page = visit(f"/runs/{run.id}/hardware", ada)

    page.keyboard.press("[")
    page.wait_for_url(f"**/runs/{before.id}/hardware")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("]")
    page.wait_for_url(f"**/runs/{run.id}/hardware")


def test_keys_lead_from_finding_to_finding_and_addresses_to_each(visit, ada, run):
    another = Finding.objects.get(run=run, is_primary=True)
    another.pk, another.is_primary, another.rule = None, False, "steps-become-slower"
    another.save()
    page = visit(f"/runs/{run.id}/", ada)
    findings = page.locator('[data-part="finding"]:visible')
    page.keyboard.press("j")
    expect(findings.first).to_be_focused()
    page.keyboard.press("j")
    expect(findings.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(findings.first).to_be_focused()

    rule = page.locator(".finding__symptoms .finding__anchor").first.get_attribute("id")
    visit(f"/runs/{run.id}/#{rule}")
    page.reload()
    expect(page.locator(f'[id="{rule}"]')).to_be_visible()


def test_a_finding_is_dismissed_with_a_reason_and_brought_back(visit, ada, run):
    main = Finding.objects.get(run=run, is_primary=True)
    page = visit(f"/runs/{run.id}/", ada)
    finding = page.locator(f"#finding-{main.id}")
    expect(finding).to_be_visible()

    finding.locator(".finding__dismiss > summary").click()
    why = finding.get_by_label("Reason")
    # A reason is required.
    finding.get_by_role("button", name="Dismiss this finding").click()
    expect(why).to_be_focused()
    expect(finding).to_be_visible()
    why.fill("Streams on purpose")
    why.press("Enter")
    expect(page.get_by_text("Finding dismissed.")).to_be_visible()
    expect(finding).to_have_count(0)
    page.locator("#checks > summary").click()
    page.locator(".fold > summary").filter(has_text="1 dismissed").click()
    folded = page.locator(".fold__list li").filter(has_text="Streams on purpose")
    expect(folded).to_contain_text(main.title)
    expect(folded).to_contain_text(ada.user.username)
    assert violations(page) == []

    folded.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Finding restored.")).to_be_visible()
    expect(finding).to_be_visible()
    expect(page.get_by_text("1 dismissed")).to_have_count(0)


def test_evidence_leads_to_its_time_among_all_readings(visit, ada, page, run):
    visit(f"/runs/{run.id}/", ada)
    page.locator(".finding__details > summary").first.click()

    page.get_by_role(
        "link", name="Show all hardware metrics for this time"
    ).first.click()

    expect(page.locator(DRAWN)).to_be_visible()
    low, high = (
        float(asked_of(address_now(page))[name][0]) for name in ("low", "high")
    )
    shown = page.evaluate(
        "document.querySelector('.chart__plot')._fullLayout.xaxis.range"
    )
    assert shown == pytest.approx([low, high], abs=2)
    # Another group of metrics for the same time range; then the whole range.
    page.get_by_role("link", name="GPUs", exact=True).click()
    expect(page).to_have_url(re.compile("group=gpus.*low="))
    expect(page.locator(DRAWN)).to_be_visible()
    page.get_by_role("button", name="Reset zoom").click()
    expect(page).not_to_have_url(re.compile("low="))
    expect(page.get_by_role("button", name="Reset zoom")).to_be_hidden()


def test_gpus_are_looked_at_one_by_one(visit, ada, page, run):
    visit(f"/runs/{run.id}/hardware?group=gpus", ada)

    page.get_by_label("GPU view").select_option(label="Each GPU: GPU power")

    expect(page).to_have_url(re.compile("each=power_watts"))
    expect(page.locator(DRAWN)).to_be_visible()
    titles = page.locator(".annotation-text")
    expect(titles.filter(has_text="GPU 0")).to_be_visible()
    expect(titles.filter(has_text="GPU 1")).to_be_visible()


def test_a_tree_is_opened_and_closed_at_once(visit, ada, page, project):
    run = make_run(project, state="finished")
    write_values(
        run,
        {f"params/{a}/{b}/{c}": 1 for a in "abc" for b in "de" for c in range(20)},
    )
    visit(f"/runs/{run.id}/attributes", ada)
    rows = page.locator(".tree__leaves tr:visible")
    expect(rows).to_have_count(0)

    page.get_by_role("button", name="Expand all").click()
    expect(rows).to_have_count(120)
    page.get_by_role("button", name="Collapse all").click()
    expect(rows).to_have_count(0)

    page.locator("summary", has_text="params/").click()
    expect(page.locator(".tree__branch > summary:visible")).to_have_count(4)


def test_one_attribute_is_linked_to_and_its_value_copied(visit, ada, page, run):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(f"/runs/{run.id}/attributes", ada)

    page.get_by_role("link", name="learning_rate", exact=True).first.click()

    expect(page).to_have_url(re.compile("path="))
    expect(page.locator(".tree__leaves tr")).to_have_count(1)
    page.get_by_role("button", name="Copy value").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == f"{run.name}-attributes.csv"


def test_a_link_to_a_log_finds_the_same_text(visit, ada, page, project):
    run = make_run(project, state="finished")
    lines = [f"line {number}" for number in range(500)]
    write(run, [records_message("logs/stdout", lines)])
    visit(f"/runs/{run.id}/logs", ada)

    page.get_by_role("searchbox").fill("line 12")
    expect(page.locator(".log__matches")).to_have_text("11 of 11")
    expect(page).to_have_url(re.compile("text=line"))
    page.reload()

    expect(page.locator(".log__matches")).to_have_text("11 of 11")
    expect(page.locator(".log__line--current")).to_contain_text("line 129")


def test_what_differs_from_the_run_before_is_read_at_once(visit, ada, page, project):
    before = make_run(project, "first", "finished", started_at=START - 10 * SECOND)
    write_values(before, SOURCE)
    run = make_run(project, "second", "finished")
    workers = SOURCE["monitoring/train/source/arguments"].replace("0", "4")
    write_values(run, {**SOURCE, "monitoring/train/source/arguments": workers})

    visit(f"/runs/{run.id}/source", ada)

    expect(page.locator("#changes ins")).to_contain_text(["4"])
    assert violations(page) == []


def test_the_widest_of_runs_fits_a_phone(visit, ada, page, project):
    page.set_viewport_size(PHONE)
    name = "a-very-long-name-without-any-space-" * 4
    for number in range(20):
        run = make_run(
            project, name, "failed", stage=f"stage-{number:02}", failure=name
        )
    write_tags(run, "<b>tag</b>", "x" * 200)
    write_values(run, {f"monitoring/stage-00/{k[17:]}": v for k, v in SOURCE.items()})
    for rank in range(8):
        write(run, [records_message(f"monitoring/train/rank-{rank}/stdout", [name])])
    settle(run)

    for tab in ("", "hardware", "attributes", "logs", "source", "files"):
        visit(f"/runs/{run.id}/{tab}", ada)

        width = page.evaluate("document.documentElement.scrollWidth")
        assert (tab, width) == (tab, PHONE["width"])
        assert violations(page) == [], tab
