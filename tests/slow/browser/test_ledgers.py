"""The pages of GPU hours and of rules, in a browser."""

import pytest
from playwright.sync_api import expect

from tests.builders import make_project
from tests.web.sample_run import make_sample_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PROJECT = "/w/ada-workspace/vision/"


@pytest.fixture
def run(ada):
    return make_sample_run(make_project(ada), has_gpu=True)


def test_a_limit_is_changed_and_taken_back_by_keyboard(visit, ada, run):
    page = visit(PROJECT + "settings/rules", ada)
    page.locator("summary", has_text="Training waits for data").press("Enter")
    field = page.get_by_label("notable share").first
    field.fill("0.3")
    field.press("Enter")

    expect(page.locator(".toast")).to_contain_text("Saved")
    expect(page.get_by_text("1 rule is customized")).to_be_visible()
    page.get_by_role("button", name="Reset").press("Enter")
    expect(page.get_by_text("is customized")).to_have_count(0)


def test_rules_are_found_by_a_part_of_their_name(visit, ada):
    make_project(ada)
    page = visit(PROJECT + "settings/rules", ada)

    page.get_by_label("Filter rules").fill("power lim")

    expect(page.locator(".rules__rule:visible")).to_have_count(1)
    expect(page.locator(".rules__rule:visible")).to_contain_text("GPU power limit")
    expect(page.get_by_role("heading", name="Hardware")).to_be_visible()
    expect(page.get_by_role("heading", name="Memory")).to_be_hidden()
    expect(page.locator("#rules-count")).to_contain_text("1 of")
