"""What a run's machines did."""

import pytest

from tests.builders import make_project, make_run, write_values
from tests.web.sample_run import make_sample_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def project(member):
    return make_project(member)


@pytest.fixture
def page(client_of, member):
    client = client_of(member)
    return lambda run, query="": client.get(f"/runs/{run.id}/hardware{query}")


def test_shows_the_readings_and_the_machine_of_each_stage(project, page):
    text = page(make_sample_run(project)).content.decode()

    assert "figures/hardware" in text
    assert text.count("node-1") == 3
    assert "8 GiB" in text


def test_one_stage_can_be_looked_at_alone(project, page):
    text = page(make_sample_run(project), "?stage=infer").content.decode()

    assert "figures/hardware?stage=infer" in text
    assert text.count("node-1") == 1


def test_a_stage_that_is_not_there_is_not_found(project, page):
    assert page(make_run(project), "?stage=nowhere").status_code == 404


def test_a_run_without_readings_says_when_they_come(project, page):
    assert "No readings yet" in page(make_run(project)).content.decode()


def test_a_run_that_ended_without_readings_promises_none(project, page):
    text = page(make_run(project, state="finished")).content.decode()

    assert "This run ended without any." in text
    assert "No readings yet" not in text


def test_groups_with_readings_can_be_chosen(project, page):
    run = make_sample_run(project)

    text = page(run, "?group=cpu&stage=infer").content.decode()

    assert "figures/hardware?stage=infer&amp;group=cpu" in text
    assert "group=gpus" not in text
    assert "group=cpu" in text


def test_a_group_that_is_not_there_is_not_found(project, page):
    assert page(make_run(project), "?group=nowhere").status_code == 404


def test_a_probe_that_does_not_answer_is_told(project, page):
    run = make_sample_run(project)
    path = "monitoring/train/facts/probes/nvml"
    write_values(run, {path: "does not answer"})

    text = page(run).content.decode()

    assert "Not measured: <code>nvml</code>, which does not answer." in text
