"""The address that a training script prints."""

from uuid import uuid4

import pytest
from django.utils import timezone

from tests.builders import make_run

pytestmark = pytest.mark.django_db


def test_it_leads_to_the_page_of_the_run(project, client_of, member):
    run = make_run(project)
    address = f"/r/{run.spools.get().id}"

    response = client_of(member).get(address)

    assert (response.status_code, response["Location"]) == (302, f"/runs/{run.id}/")


def test_a_page_waits_for_the_first_data_of_a_run(client_of, member):
    response = client_of(member).get(f"/r/{uuid4()}")

    assert response.status_code == 404
    assert response["Refresh"] == "3"
    assert "No data yet" in response.content.decode()


def test_strangers_learn_nothing_of_a_run_or_of_one_in_the_trash(
    project, client_of, member, stranger
):
    run = make_run(project)
    address = f"/r/{run.spools.get().id}"

    assert client_of(stranger).get(address).status_code == 404
    run.trashed_at = timezone.now()
    run.save()
    assert client_of(member).get(address).status_code == 404
