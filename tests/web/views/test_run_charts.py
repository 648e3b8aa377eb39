"""A run's charts."""

import pytest

from tests.builders import make_project, make_run, write_series
from tests.web.sample_run import settle
from tracker.models import Run, State


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


@pytest.mark.django_db
@pytest.mark.database
class TestPage:
    def test_has_one_chart_of_each_series(self, charts):
        text = charts().content.decode()

        assert text.count('data-behaviour="chart"') == 3
        assert "figures/series?path=train%2Floss" in text

    def test_searches_without_regard_to_case_or_patterns(self, charts):
        assert charts("?search=LOSS").content.decode().count("data-path=") == 2
        assert charts("?search=.*").content.decode().count("data-path=") == 0

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
        ["?axis=wall", "?smoothing=1", "?smoothing=-1", "?low=nan", "?high=1e999"],
    )
    def test_refuses_what_it_does_not_understand(self, charts, query):
        assert charts(query).status_code == 400

    def test_a_live_page_learns_of_new_series(self, charts):
        hx = {"HX-Request": "true"}

        assert "2 new series" in charts("?known=1", **hx).content.decode()
        assert "new series" not in charts("?known=3", **hx).content.decode()
        assert "new series" not in charts("?known=x", **hx).content.decode()
