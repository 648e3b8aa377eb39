from __future__ import annotations

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_the_migrations_make_the_tables_of_the_models():
    # Exits with an error if a migration is missing.
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
