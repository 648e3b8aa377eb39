from __future__ import annotations

import pytest

from tracker.actions.people.accounts import create_account
from tracker.errors import InvalidInput
from tracker.models import AuditEntry, User

pytestmark = [pytest.mark.django_db, pytest.mark.database]

GOOD = "correct horse battery"


def test_an_account_has_a_username_made_from_its_address():
    first = create_account(" Ada.L@Example.org ", "Ada  Lovelace", GOOD)
    second = create_account("ada.l@other.org", "Ada L")

    assert (first.email, first.name) == ("ada.l@example.org", "Ada Lovelace")
    assert (first.username, second.username) == ("ada.l", "ada.l-2")
    assert first.check_password(GOOD)
    assert not second.has_usable_password()
    assert AuditEntry.objects.filter(action="account.created").count() == 2


@pytest.mark.parametrize(
    ("field", "arguments"),
    {
        "no address": ("email", ("ada", "Ada", GOOD)),
        "taken": ("email", ("TAKEN@example.org", "Ada", GOOD)),
        "no name": ("name", ("ada@example.org", "  ", GOOD)),
        "null": ("name", ("ada@example.org", "a\0b", GOOD)),
        "short": ("password", ("ada@example.org", "Ada", "tiger")),
        "common": ("password", ("ada@example.org", "Ada", "password1234")),
        "similar": ("password", ("ada@example.org", "Ada", "ada@example.org")),
    }.values(),
)
def test_bad_input_is_rejected_with_its_field(field, arguments):
    create_account("taken@example.org", "Bob")

    with pytest.raises(InvalidInput) as refused:
        create_account(*arguments)

    assert refused.value.field == field
    assert User.objects.count() == 1
