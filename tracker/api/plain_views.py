"""Describes the addresses that ninja does not serve, in ninja's format."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from ninja import Schema
from ninja.openapi.schema import REF_TEMPLATE

from tracker.api.v1 import blobs as parts
from tracker.api.v1.ingest import CONTENT_TYPE

# A part of the OpenAPI document.
Json = dict[str, Any]


class RefusedMessageOut(Schema):
    """A rejected message; docs/protocol.md lists the codes."""

    frame: int
    index: int
    code: str
    message: str
    # Empty unless one path of many was rejected.
    path: str = ""


class ReceiptOut(Schema):
    """All frames up to `stored` are stored; up to 20 rejected messages are listed."""

    stored: int
    refused: list[RefusedMessageOut]
    refused_count: int
    run: UUID | None
    # The run's name if it differs from the one that the process gave.
    numbered_name: str | None


class ProgressOut(Schema):
    """The number of received bytes of a file, and whether it is complete."""

    received: int
    is_stored: bool


class AliveOut(Schema):
    status: Literal["alive"]


class ReadyOut(Schema):
    status: Literal["ready", "degraded"]
    background_work: Literal["on time", "behind"]
    missing: list[Literal["worker", "scheduler"]]


class NotReadyOut(Schema):
    status: Literal["not ready"]
    reason: str


MODELS = (RefusedMessageOut, ReceiptOut, ProgressOut, AliveOut, ReadyOut, NotReadyOut)


def schemas() -> Json:
    described = {
        model.__name__: model.model_json_schema(ref_template=REF_TEMPLATE)
        for model in MODELS
    }
    for schema in described.values():
        schema.pop("$defs", None)
    return described


def batches() -> Json:
    """Describe the ingest address; under /api/, so its errors have the API's shape."""
    return {
        "operationId": "tracker_api_v1_ingest_receive_batch",
        "summary": "Receive Batch",
        "description": "Store a batch of an agent's frames, in the format of"
        " docs/protocol.md. Repeating a stored batch returns the same response. An"
        " empty body is a heartbeat.",
        "tags": ["agents"],
        "security": [{"WriterAuth": []}],
        "parameters": [
            {
                "in": "path",
                "name": "spool_id",
                "schema": {"type": "string", "format": "uuid"},
                "required": True,
            },
            {
                "in": "header",
                "name": "Content-Encoding",
                "schema": {"type": "string", "enum": ["zstd", "gzip", "identity"]},
                "required": False,
            },
        ],
        "requestBody": {
            "content": {
                CONTENT_TYPE: {"schema": {"type": "string", "format": "binary"}}
            },
            "required": False,
        },
        "responses": {200: _answer(ReceiptOut)},
    }


def blobs() -> Json:
    """Describe the address for file uploads."""
    number = {"type": "integer", "minimum": 0}
    return {
        "operationId": "tracker_api_v1_blobs_receive_part",
        "summary": "Receive Part",
        "description": "Store a part of a file's content, starting where the last part"
        " ended. An empty body returns the progress. Contents of other workspaces do"
        " not count.",
        "tags": ["agents"],
        "security": [{"WriterAuth": []}],
        "parameters": [
            {
                "in": "path",
                "name": "digest",
                "description": "The content's SHA-256.",
                "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "required": True,
            },
            {
                "in": "query",
                "name": "size",
                "description": "Size of the whole content in bytes.",
                "schema": number,
                "required": True,
            },
            {
                "in": "query",
                "name": "offset",
                "description": "Offset of the part; required unless it is empty.",
                "schema": number,
                "required": False,
            },
        ],
        "requestBody": {
            "content": {
                parts.CONTENT_TYPE: {"schema": {"type": "string", "format": "binary"}}
            },
            "required": False,
        },
        "responses": {200: _answer(ProgressOut)},
    }


def health() -> Json:
    """Describe the health checks; outside /api/, so their errors are pages."""
    foreign_host = {400: {"description": "The host name is not one of this server's."}}
    common = {"tags": ["server"], "security": [], "parameters": []}
    liveness = {
        "operationId": "tracker_api_v1_health_read_liveness",
        "summary": "Read Liveness",
        "description": "Whether the server is running; does not check the database.",
        "responses": {200: _answer(AliveOut), **foreign_host},
    }
    readiness = {
        "operationId": "tracker_api_v1_health_read_readiness",
        "summary": "Read Readiness",
        "description": "Whether the database is reachable and migrated, and background processes run.",
        "responses": {
            200: _answer(ReadyOut),
            503: _answer(NotReadyOut, "Not ready"),
            **foreign_host,
        },
    }
    return {
        "/livez": {"get": liveness | common},
        "/readyz": {"get": readiness | common},
    }


def _answer(model: type[Schema], description: str = "OK") -> Json:
    reference = {"$ref": REF_TEMPLATE.format(model=model.__name__)}
    return {
        "description": description,
        "content": {"application/json": {"schema": reference}},
    }
