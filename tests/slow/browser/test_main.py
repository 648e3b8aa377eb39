"""Behaviors are attached to elements; background tabs do not poll."""

from __future__ import annotations

import re
import time

import pytest
from django.db import connections
from playwright.sync_api import expect

from tests.builders import make_project, make_run
from tests.slow.browser.conftest import sign_in
from tracker.server.statements import database

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_statements_and_the_orm_have_one_connection_where_a_browser_was_driven(page):
    page.goto("about:blank")

    assert database() is connections["default"]


def test_what_htmx_brings_in_gets_its_behaviour(visit):
    page = visit("/sign-in")

    page.evaluate("""() => {
      const time = document.createElement("time")
      time.id = "late"
      time.dateTime = "2026-11-21T12:00:00Z"
      time.dataset.behaviour = "local-time"
      time.dataset.precision = "day"
      document.querySelector("main").append(time)
      htmx.process(document.querySelector("main"))
    }""")

    page.wait_for_function("() => document.querySelector('#late').textContent")
    assert "21 Nov 2026" in page.locator("#late").inner_text()
    # A morph keeps the element and writes the server's text into it.
    page.evaluate("""() => {
      document.querySelector("#late").textContent = "server text"
      htmx.process(document.querySelector("main"))
    }""")
    expect(page.locator("#late")).to_have_text("21 Nov 2026")


@pytest.mark.parametrize(("is_hidden", "heard"), [(True, 0), (False, 1)])
def test_a_page_nobody_looks_at_asks_for_nothing(visit, is_hidden, heard):
    page = visit("/sign-in")

    count = page.evaluate(
        """isHidden => {
          Object.defineProperty(document, "hidden", { get: () => isHidden })
          let count = 0
          const main = document.querySelector("main")
          main.addEventListener("every", () => count++)
          main.dispatchEvent(new CustomEvent("every"))
          return count
        }""",
        is_hidden,
    )

    assert count == heard


def test_a_button_pressed_before_the_page_answers_is_pressed_once_it_does(visit, page):
    page.route("**/page/theme_switch.js", slowly)
    page.add_init_script(
        """document.addEventListener("readystatechange", () => {
          if (document.readyState !== "interactive") return
          document.querySelector("[data-behaviour~=theme-switch]").click()
        })"""
    )

    visit("/sign-in")

    # From "auto" one on, and not two.
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_what_is_typed_and_chosen_before_the_page_answers_holds_once_it_does(
    page, watch, live_server, ada
):
    project = make_project(ada)
    for name, state in (("one", "finished"), ("one more", "failed"), ("two", "failed")):
        make_run(project, name, state)
    held = []

    def hold(route):
        held.append(route)

    page.route("**/table/runs_grid.js", hold)
    sign_in(page.context, live_server.url, ada)
    page.goto(f"{live_server.url}/w/ada-workspace/vision/")
    page.get_by_label("Filter by name or tag").press_sequentially("one")
    page.wait_for_function("() => document.readyState === 'complete'")

    held[0].continue_()

    expect(page.locator(".runs-grid__row[data-position]:visible")).to_have_count(2)
    expect(page.get_by_role("row", name="one more")).to_be_visible()
    assert page.get_by_label("Filter by name or tag").input_value() == "one"
    expect(page).to_have_url(re.compile(r"\?q=one$"))


def slowly(route):
    time.sleep(1)
    route.continue_()


def test_a_behaviour_nobody_wrote_is_ignored(visit):
    page = visit("/sign-in")

    page.evaluate("""() => {
      const main = document.querySelector("main")
      main.dataset.behaviour = "__proto__ constructor nothing"
      htmx.process(main)
    }""")

    assert page.title() == "Sign in · Seamark"
