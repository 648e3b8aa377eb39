"""Panels: widgets among the charts of runs."""

from __future__ import annotations

import re
from html import unescape

import orjson
import pytest
from django.urls import reverse

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tracker.actions.dashboards import create_dashboard
from tracker.boards.board import Board, RunSet, Widget, board_from
from tracker.errors import InvalidInput
from tracker.models import Dashboard, Role
from tracker.series.compaction import compact_run
from web.pages.charts.arrangement import (
    LONGEST_PANEL,
    panel_json,
    read_arrangement,
    read_panel,
)

PANEL = Widget(id="c0c0c0c0", kind="bar", settings={"metric": "params/lr"})


def test_an_arrangement_holds_panels():
    text = f'{{"panels": [{panel_json(PANEL)}]}}'

    found = read_arrangement(text)

    assert found.panels == (PANEL,)
    assert read_arrangement(orjson.dumps(found.body)) == found


@pytest.mark.parametrize(
    "panel",
    [
        '{"id": "c0c0c0c0"}',
        '{"id": "x", "kind": "bar"}',
        '{"id": "c0c0c0c0", "kind": "text", "settings": {"text": "\\u0000"}}',
        f'{{"id": "c0c0c0c0", "kind": "bar", "title": "{"a" * LONGEST_PANEL}"}}',
        "7",
    ],
    ids=["no kind", "id", "unstorable", "long", "number"],
)
def test_other_panels_are_refused(panel):
    with pytest.raises(InvalidInput):
        read_panel(panel)
    with pytest.raises(InvalidInput):
        read_arrangement(f'{{"panels": [{panel}]}}')


def test_an_id_stands_once():
    with pytest.raises(InvalidInput):
        read_arrangement(f'{{"panels": [{panel_json(PANEL)}, {panel_json(PANEL)}]}}')


@pytest.mark.django_db
class TestPages:
    @pytest.fixture
    def runs(self, project):
        made = [make_run(project, name, "finished") for name in ("slow", "fast")]
        for place, run in enumerate(made):
            write_series(run, "train/loss", [1.0, 0.5 - place / 4])
            write_series(run, "val/loss", [2.0, 1.5])
            write_values(run, {"params/lr": 0.1 * (place + 1)})
            compact_run(run.id)
        return made

    @pytest.fixture
    def viewer(self, client_of, member):
        return client_of(make_member("grace", Role.VIEWER, workspace=member.workspace))

    @pytest.fixture
    def address(self, project):
        names = [project.workspace.slug, project.slug]
        return lambda name: reverse(name, args=names)

    def ids(self, runs):
        return ",".join(str(run.id) for run in runs)

    def figure(self, viewer, address, runs, kind, **settings):
        panel = Widget(id="c0c0c0c0", kind=kind, settings=settings)
        asked = {"panel": panel_json(panel), "runs": self.ids(runs), "colours": "4.2"}
        body = viewer.get(address("panel-body"), asked).content.decode()
        found = re.search(r'data-figure-url="([^"]+)"', body)
        assert found, body
        return viewer.get(unescape(found[1])).json()

    def test_a_viewer_adds_one_by_its_form(self, viewer, address, runs):
        kinds = viewer.get(address("panel-form")).content.decode()
        form = viewer.get(address("panel-form"), {"kind": "bar"}).content.decode()
        posted = {"title": "Rates", "set-metric": "params/lr", "runs": self.ids(runs)}
        made = viewer.post(address("panel-form") + "?kind=bar", posted)

        assert "?kind=parallel" in kinds
        assert 'name="set-metric"' in form
        panel = read_panel(
            unescape(re.search(r'data-panel="([^"]+)"', made.content.decode())[1])
        )
        assert (panel.kind, panel.title) == ("bar", "Rates")
        assert "dialog-done" in made.headers["HX-Trigger"]

    def test_a_wrong_setting_is_refused_in_the_dialog(self, viewer, address):
        refused = viewer.post(address("panel-form") + "?kind=bar", {"set-metric": ""})

        assert refused.status_code == 400
        assert refused.headers["HX-Retarget"] == "#panel-refusal"
        assert "Metric must not be empty" in refused.content.decode()

    def test_pages_show_those_that_were_kept(self, viewer, address, runs):
        layout = f'{{"panels": [{panel_json(PANEL)}]}}'
        viewer.post(address("charts-arrangement"), {"layout": layout})

        for page, asked in (
            (address("compare"), {"runs": self.ids(runs)}),
            (address("runs-charts"), {"runs": self.ids(runs)}),
            (reverse("run-charts", args=[runs[0].id]), {}),
        ):
            shown = viewer.get(page, asked).content.decode()
            assert 'id="widget-c0c0c0c0"' in shown
            assert str(runs[0].id) in unescape(shown.split("hx-get=")[-1])

    def added(self, client, address, runs, **posted):
        asked = {"panel": panel_json(PANEL), "runs": self.ids(runs), **posted}
        return client.post(address("panel-dashboard"), asked)

    def test_one_is_copied_to_a_dashboard_with_its_runs(
        self, client_of, member, address, project, runs
    ):
        client = client_of(member)
        made = create_dashboard(project, "ours", Board(), user_id=member.user_id)
        asked = {"panel": panel_json(PANEL), "runs": self.ids(runs)}
        offered = client.get(address("panel-dashboard"), asked).content.decode()

        page = self.added(client, address, runs, dashboard=str(made.id), own_runs="1")
        self.added(client, address, runs, dashboard=str(made.id))

        assert f'name="dashboard" value="{made.id}"' in offered
        assert f'href="/dashboards/{made.id}/"' in page.content.decode()
        first, second = board_from(Dashboard.objects.get().content).widgets
        assert first.settings["metric"] == "params/lr"
        assert first.run_set == RunSet(runs=tuple(run.id for run in runs))
        assert second.run_set is None

    def test_one_is_copied_to_a_new_dashboard(
        self, client_of, member, address, project, runs
    ):
        other = make_run(make_project(make_member("bob")), "of a stranger")
        client = client_of(member)
        self.added(client, address, [*runs, other], name="new one")

        made = Dashboard.objects.get()
        board = board_from(made.content)
        assert made.name == "new one"
        assert [each.kind for each in board.widgets] == ["bar"]
        assert board.run_set.runs == tuple(run.id for run in runs)

    def test_a_dashboard_needs_a_name_and_permission(
        self, client_of, member, viewer, address, runs
    ):
        refused = self.added(client_of(member), address, runs)

        assert refused.status_code == 400
        assert refused.headers["HX-Retarget"] == "#panel-refusal"
        assert self.added(viewer, address, runs, name="x").status_code == 403
        assert not Dashboard.objects.exists()

    def test_bars_have_the_colours_of_the_page(self, viewer, address, runs):
        figure = self.figure(viewer, address, runs, "bar", metric="params/lr")

        colours = figure["data"][0]["marker"]["color"]
        assert colours == ["var(--run-4)", "var(--run-2)"]

    @pytest.mark.parametrize(
        ("kind", "settings"),
        [
            ("scatter", {"x": "params/lr", "y": "train/loss"}),
            ("parallel", {"axes": ["params/lr", "train/loss"], "colour": "val/loss"}),
            ("histogram", {"metric": "train/loss"}),
        ],
    )
    def test_kinds_of_values_are_drawn(self, viewer, address, runs, kind, settings):
        assert self.figure(viewer, address, runs, kind, **settings)["data"]

    def test_a_regular_expression_names_the_series(self, viewer, address, runs):
        figure = self.figure(viewer, address, runs, "chart", pattern="^(train|val)/l")

        paths = {line["path"] for line in figure["lines"]}
        assert paths == {"train/loss", "val/loss"}
        assert figure["lines"][0]["colour"] == "var(--run-4)"

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"pattern": "("}, "Invalid regular expression"),
            ({"pattern": "no such"}, "No series matches"),
            ({}, "Metrics must not be empty"),
        ],
    )
    def test_says_why_there_is_no_line(self, viewer, address, runs, settings, said):
        panel = Widget(id="c0c0c0c0", kind="chart", settings=settings)
        asked = {"panel": panel_json(panel), "runs": self.ids(runs)}

        assert said in viewer.get(address("panel-body"), asked).content.decode()
