import pytest
from django.http import QueryDict

from tracker.errors import InvalidInput
from tracker.queries.series.series import Axis
from web.pages.charts.chart_options import ChartOptions, read_options


def test_without_any_the_usual_ones_hold():
    assert read_options(QueryDict("")) == ChartOptions()


def test_what_is_read_can_be_written_and_read_again():
    options = read_options(
        QueryDict(
            "axis=time&log=1&ridges=1&smoothing=0.6&smoother=gaussian&low=1600000000000.5&high=1.7e12"
        )
    )

    assert options == ChartOptions(
        Axis.TIME,
        log=True,
        ridges=True,
        smoothing=0.6,
        smoother="gaussian",
        low=1600000000000.5,
        high=1.7e12,
    )
    assert read_options(QueryDict(options.query)) == options


@pytest.mark.parametrize("query", ["low=0.5", "high=900000.0", "smoothing=0.12345678"])
def test_no_other_drawing_has_the_same_address(query):
    assert read_options(QueryDict(query)).query == query


def test_any_series_may_give_the_places():
    options = read_options(QueryDict("axis=series&over=train/epoch&logx=1&clip=1"))

    assert (options.over, options.axis_name) == ("train/epoch", "series")
    assert options.clips
    assert options.look.log_x
    assert read_options(QueryDict(options.query)) == options


def test_moments_have_no_logarithm():
    assert not read_options(QueryDict("axis=time&logx=1")).look.log_x


def test_the_usual_ones_leave_the_address_alone():
    assert ChartOptions().query == ""


@pytest.mark.parametrize(
    "query",
    [
        "axis=",
        "axis=epoch",
        "axis=series",
        "axis=series&over=%00",
        "smoothing=1",
        "smoothing=x",
        "smoother=x",
        "low=nan",
        "high=inf",
    ],
)
def test_refuses_what_it_does_not_understand(query):
    with pytest.raises(InvalidInput):
        read_options(QueryDict(query))
