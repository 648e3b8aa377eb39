"""Describes the addresses that ninja does not serve, as it would describe them."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from ninja import Schema
from ninja.openapi.schema import REF_TEMPLATE

from tracker.api.v1 import blobs as parts
from tracker.api.v1.ingest import CONTENT_TYPE

# A part of the description.
Json = dict[str, Any]


class RefusedMessageOut(Schema):
    """A message that was not accepted; `code` is one of docs/protocol.md."""

    frame: int
    index: int
    code: str
    message: str
    # Empty unless one path of many was refused.
    path: str = ""


class ReceiptOut(Schema):
    """All frames up to `stored` are kept; of what was refused, 20 are listed."""

    stored: int
    refused: list[RefusedMessageOut]
    refused_count: int
    run: UUID | None


class ProgressOut(Schema):
    """How many bytes of a file's content are there, and whether it is whole."""

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
    """Describe the address agents write to; under /api/, so its refusals are ours."""
    return {
        "operationId": "tracker_api_v1_ingest_receive_batch",
        "summary": "Receive Batch",
        "description": "Take a batch of an agent's frames, laid out as docs/protocol.md"
        " says. One that is stored already is answered alike. An empty body says that"
        " the process is alive.",
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
    """Describe the address that agents send files to."""
    number = {"type": "integer", "minimum": 0}
    return {
        "operationId": "tracker_api_v1_blobs_receive_part",
        "summary": "Receive Part",
        "description": "Take a part of a file's content, which begins where the last"
        " part ended. An empty body asks how much is there. What other workspaces hold"
        " makes no difference.",
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
                "description": "Of the whole content, in bytes.",
                "schema": number,
                "required": True,
            },
            {
                "in": "query",
                "name": "offset",
                "description": "Where the part begins; needed unless it is empty.",
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
    """Describe what watches the server; outside /api/, so its refusals are pages."""
    foreign_host = {400: {"description": "The host name is not one of this server's."}}
    common = {"tags": ["server"], "security": [], "parameters": []}
    liveness = {
        "operationId": "tracker_api_v1_health_read_liveness",
        "summary": "Read Liveness",
        "description": "Whether the server lives; the database is not asked.",
        "responses": {200: _answer(AliveOut), **foreign_host},
    }
    readiness = {
        "operationId": "tracker_api_v1_health_read_readiness",
        "summary": "Read Readiness",
        "description": "Whether the database answers and is current, and background processes run.",
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
