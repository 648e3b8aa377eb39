"""Identifies the project to read from, and its server."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from seamark.errors import CannotRead, InvalidSetting
from seamark.reading.client import Json, Taken, ask
from seamark.servers import Server, find_server

_MAX_NAMED = 10


@dataclass(frozen=True)
class StoredProject:
    server: Server
    workspace: str
    slug: str

    @property
    def qualified(self) -> str:
        """The project's unique name on the server."""
        return f"{self.workspace}/{self.slug}"

    def __str__(self) -> str:
        return f"/projects/{self.qualified}"

    def ask(
        self, place: str, take: Callable[[Json], Taken], /, **query: object
    ) -> Taken:
        return ask(self.server, f"{self}{place}", take, query)


def known_server() -> Server:
    server = find_server(os.environ)
    if server is None:
        raise InvalidSetting(
            "SEAMARK_URL",
            "and SEAMARK_TOKEN must be set (or run `seamark login`), or a server must run "
            "on this machine",
        )
    return server


def find_project(requested: str | None) -> StoredProject:
    server = known_server()
    name = requested or os.environ.get("SEAMARK_PROJECT") or "default"

    def take(answer: Json) -> list[tuple[str, StoredProject]]:
        return [
            (
                str(row["name"]),
                StoredProject(server, str(row["workspace"]), str(row["slug"])),
            )
            for row in answer["projects"]
        ]

    every = ask(server, "/projects", take)
    found = [one for own, one in every if name in (own, one.slug, one.qualified)]
    if not found:
        there = ", ".join(one.slug for _, one in every[:_MAX_NAMED])
        more = f"; there are: {there}" if there else ""
        raise CannotRead("not_found", f"{server.url} has no project {name!a}{more}.")
    if len(found) > 1:
        names = ", ".join(one.qualified for one in found)
        raise CannotRead("ambiguous", f"There are several: {names}.")
    return found[0]
