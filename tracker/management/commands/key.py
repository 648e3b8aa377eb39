"""Lists, creates and revokes API keys."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.keys import KeyRequest, create_key, revoke_key
from tracker.actor import Scope
from tracker.errors import NotFound
from tracker.management.people import (
    add_data_folder,
    add_projects,
    add_workspace,
    refusals_in_words,
    the_member,
    the_workspace,
)
from tracker.models import Token
from tracker.queries.people.keys import keys_of_workspace


class Command(BaseCommand):
    help = "List, create and revoke API keys."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_data_folder(parser)
        actions = parser.add_subparsers(dest="action", required=True)
        add_workspace(actions.add_parser("list", help="list all keys, one per line"))
        create = actions.add_parser("create", help="create a key and print it")
        create.add_argument("who", help="email address or username of its owner")
        create.add_argument("name", help="name of the key")
        create.add_argument(
            "--scope", choices=[scope.value for scope in Scope], default=Scope.LOG.value
        )
        create.add_argument(
            "--expires-days", type=int, default=365, help="0: never; default: 365"
        )
        add_projects(create)
        add_workspace(create)
        revoke = actions.add_parser("revoke", help="revoke a key")
        revoke.add_argument("id", type=int, help="key id (first column of list)")

    # Any: argparse's values.
    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_in_words():
            getattr(self, options["action"])(options)

    def list(self, options: dict[str, Any]) -> None:
        for key in keys_of_workspace(the_workspace(options["workspace"])):
            projects = key.projects or ()
            fields = (
                str(key.id),
                key.owner.username,
                key.name,
                key.prefix,
                key.scope,
                "all" if key.projects is None else ",".join(p.slug for p in projects),
                key.expires_at.isoformat() if key.expires_at else "never expires",
            )
            self.stdout.write("\t".join(fields))

    def create(self, options: dict[str, Any]) -> None:
        member = the_member(the_workspace(options["workspace"]), options["who"])
        days = options["expires_days"]
        projects = options["projects"]
        request = KeyRequest(
            name=options["name"].strip(),
            scope=Scope(options["scope"]),
            expires_at=timezone.now() + timedelta(days=days) if days else None,
            projects=None if projects is None else tuple(projects),
        )
        self.stdout.write(create_key(member, request, COMMAND).secret)

    def revoke(self, options: dict[str, Any]) -> None:
        keys = Token.objects.select_related("member__user", "member__workspace")
        key = keys.filter(id=options["id"], revoked_at=None).first()
        if key is None:
            raise NotFound("API key")
        revoke_key(key, COMMAND)
        self.stdout.write(f"Revoked {key.name}.")
