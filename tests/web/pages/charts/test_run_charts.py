"""A run's charts."""

from datetime import timedelta
from urllib.parse import quote, urlsplit

import orjson
import pytest
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone

from tests.builders import make_member, make_project, make_run, write_series
from tests.web.pages.charts.test_series_figures import cut
from tests.web.sample_run import settle
from tracker.models import ChartArrangement, Run, State
from web.pages.charts.run_charts import FIRST_CHARTS


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    for path in ("train/loss", "train/Loss_raw", "infer/latency"):
        write_series(run, path, [1.0, 2.0])
    settle(run)
    return run


@pytest.fixture
def charts(client_of, member, run):
    client = client_of(member)
    return lambda query="", **headers: client.get(
        f"/runs/{run.id}/charts{query}", headers=headers
    )


def found(answer):
    """Charts that a page shows for a search; hidden ones are for further typing."""
    cards = [card for section in answer.context["sections"] for card in section.cards]
    return [card.title for card in cards if not card.is_hidden]


@pytest.mark.django_db
class TestPage:
    def test_has_one_chart_of_each_series(self, charts):
        text = charts().content.decode()

        assert text.count('data-behaviour="chart"') == 3
        assert 'data-chart="[&quot;train/loss&quot;]"' in text
        assert "figures/series?path=train%2Floss" in text

    def test_searches_without_regard_to_case_or_patterns(self, charts):
        assert found(charts("?search=LOSS")) == ["train/Loss_raw", "train/loss"]
        assert found(charts("?search=.*")) == []

    def test_counts_what_it_found_and_still_knows_of_all(self, charts, run):
        Run.objects.filter(id=run.id).update(state=State.RUNNING)

        text = charts("?search=LOSS").content.decode()

        assert 'role="status">2 series<' in text
        assert "charts?known=3" in text

    def test_opens_as_its_address_says(self, charts):
        text = charts("?axis=time&log=1&smoothing=0.6&low=1.5&high=2").content.decode()

        assert (
            'data-chart-query="axis=time&amp;log=1&amp;smoothing=0.6&amp;low=1.5&amp;high=2.0"'
            in text
        )
        assert 'data-axis="time" aria-pressed="true"' in text

    @pytest.mark.parametrize(
        "query",
        [
            "?axis=wall",
            "?axis=series",
            "?layout=x",
            "?smoothing=1",
            "?smoothing=-1",
            "?low=nan",
            "?high=1e999",
        ],
    )
    def test_refuses_what_it_does_not_understand(self, charts, query):
        assert charts(query).status_code == 400

    def test_finds_by_regular_expression_without_javascript_too(self, charts):
        mistaken = charts("?search=(&regex=1")

        assert found(charts("?search=^train/.*raw$&regex=1")) == ["train/Loss_raw"]
        assert found(mistaken) == []
        assert "Invalid regular expression: missing )" in mistaken.content.decode()

    def test_draws_over_any_series(self, charts):
        text = charts("?axis=series&over=train/Loss_raw").content.decode()

        assert "axis=series&amp;over=train%2FLoss_raw" in text

    def test_a_page_that_is_silent_says_since_when(self, charts, run):
        hx = {"HX-Request": "true"}
        live = charts("?known=3", **hx).content.decode()
        Run.objects.filter(id=run.id).update(
            last_seen_at=timezone.now() - timedelta(minutes=5)
        )
        silent = charts("?known=3", **hx).content.decode()
        Run.objects.filter(id=run.id).update(state=State.FINISHED)

        assert "Live updates" in live
        assert "No data from this run since" in silent
        assert charts("?known=3", **hx).content.decode().strip() == ""

    def test_a_live_page_learns_of_new_series(self, charts):
        hx = {"HX-Request": "true"}

        assert "2 new series" in charts("?known=1", **hx).content.decode()
        assert "new series" not in charts("?known=3", **hx).content.decode()
        for known in ("x", "9" * 5_000):
            assert charts(f"?known={known}", **hx).status_code == 400


@pytest.mark.django_db
class TestFirstFigures:
    """Preload addresses of a page's first charts."""

    QUOTED = ("train%2FLoss_raw", "train%2Floss", "infer%2Flatency")

    def asked(self, answer):
        """The preloaded charts of a page, with their options."""
        address = answer.context["first_figures"]
        parameters = QueryDict(urlsplit(address).query, mutable=True)
        return parameters.pop("chart", []), parameters.urlencode()

    def test_are_those_at_the_top_in_their_order(self, charts):
        answer = charts()

        assert self.asked(answer) == (
            [f"path={name}" for name in self.QUOTED],
            "",
        )
        text = answer.content.decode()
        assert 'rel="preload" as="fetch" crossorigin data-part="first-figures"' in text
        assert 'rel="preload" as="script" data-part="plotly"' in text

    def test_are_answered_as_one_batch(self, charts, client_of, member):
        answer = client_of(member).get(charts().context["first_figures"])

        assert answer.status_code == 200
        assert len(cut(answer.content)) == 3

    def test_are_drawn_as_the_page_says(self, charts):
        page = charts("?axis=time&log=1&low=1.5&high=2")

        assert self.asked(page)[1] == page.context["options"].query != ""

    def test_leave_out_what_is_folded_away_or_was_not_searched_for(self, charts):
        folded = charts("?layout=" + quote('{"folded": ["train/"]}'))
        searched = charts("?search=loss_raw")

        assert self.asked(folded)[0] == ["path=infer%2Flatency"]
        assert self.asked(searched)[0] == ["path=train%2FLoss_raw"]

    def test_say_which_are_logarithmic_by_themselves(self, charts):
        page = charts("?layout=" + quote('{"log": [["infer/latency"]]}'))

        assert self.asked(page)[0][-1] == "path=infer%2Flatency&own=log"

    def test_are_no_more_than_a_window_shows(self, charts, run):
        for n in range(20):
            write_series(run, f"more/{n:02}", [1.0, 2.0])

        assert len(self.asked(charts())[0]) == FIRST_CHARTS

    def test_of_endless_names_are_no_endless_address(self, charts, run):
        for n in range(12):
            write_series(run, f"more/{n:02}" + "<" * 900, [1.0, 2.0])

        assert len(charts().context["first_figures"]) < 8_000

    def test_of_nothing_are_not_asked_for(self, charts):
        text = charts("?search=nothing-has-this-name").content.decode()

        assert 'data-part="first-figures"' not in text
        assert 'data-part="plotly"' not in text


@pytest.mark.django_db
class TestArrangement:
    LAYOUT = (
        '{"pinned": [["infer/latency"]], "joined": [["train/loss", "infer/latency"]],'
        ' "folded": ["train/"]}'
    )

    def keep(self, browser, run, layout=LAYOUT):
        project = run.project
        names = [project.workspace.slug, project.slug]
        address = reverse("charts-arrangement", args=names)
        return browser.post(address, {"layout": layout}).status_code

    def sections(self, browser, run, query=""):
        context = browser.get(f"/runs/{run.id}/charts{query}").context
        return {
            section.name: ([card.title for card in section.cards], section.is_open)
            for section in context["sections"]
        }

    def test_is_kept_for_all_runs_of_the_project(self, client_of, member, run):
        browser = client_of(member)
        other = make_run(run.project, "other")
        write_series(other, "infer/latency", [1.0, 2.0])

        assert self.keep(browser, run) == 204

        assert self.sections(browser, run) == {
            "pinned": (["infer/latency"], True),
            "joined": (["train/loss, infer/latency"], True),
            "train/": ([], False),
            "infer/": ([], True),
        }
        assert self.sections(browser, other)["pinned"] == (["infer/latency"], True)

    def test_a_link_shows_a_colleague_the_same(self, client_of, member, run):
        query = f"?layout={self.LAYOUT}"

        found = self.sections(client_of(member), run, query)

        assert found["pinned"] == (["infer/latency"], True)
        # A page view saves nothing.
        assert self.sections(client_of(member), run)["pinned"] == ([], True)

    def test_is_everybodys_own(self, client_of, member, run):
        grace = make_member("grace", "viewer", workspace=member.workspace)
        self.keep(client_of(member), run)

        assert self.sections(client_of(grace), run)["pinned"] == ([], True)
        assert self.keep(client_of(grace), run) == 204

    def test_refuses_what_no_page_writes(self, client_of, member, run, stranger):
        assert self.keep(client_of(member), run, "{") == 400
        assert self.keep(client_of(stranger), run) == 404

    def test_what_an_earlier_version_kept_locks_nobody_out(self, charts, run, member):
        ChartArrangement.objects.create(
            project=run.project,
            user=member.user,
            body={"pinned": "?"},
            changed_at=timezone.now(),
        )

        assert charts().status_code == 200


@pytest.mark.django_db
class TestSearch:
    def test_answers_which_charts_match(self, client_of, member, run):
        answer = client_of(member).get(
            f"/runs/{run.id}/charts/search?search=loss$&regex=1"
        )

        assert orjson.loads(answer.content) == {
            "paths": ["train/loss"],
            "count": 1,
            "mistake": "",
        }

    def test_a_stranger_finds_nothing(self, client_of, stranger, run):
        address = f"/runs/{run.id}/charts/search?search=loss"
        assert client_of(stranger).get(address).status_code == 404
