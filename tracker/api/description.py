"""Completes the OpenAPI description with errors, links and plain views.

ninja describes the successful requests and responses of its endpoints. Errors depend on
an endpoint's inputs and are described here, once.
"""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from tracker.api import plain_views
from tracker.api.v1 import blobs
from tracker.api.v1.ingest import CONTENT_TYPE
from tracker.errors import (
    Busy,
    Changed,
    DigestDiffers,
    FrameDiffers,
    InvalidInput,
    LengthRequired,
    MalformedBatch,
    NoRoom,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    OutOfOrder,
    Pinned,
    RunFinished,
    TooLarge,
    TooSlow,
    TrackerError,
    Unavailable,
    UnsupportedMedia,
)
from tracker.server.statuses import STATUS

# A part of the OpenAPI document.
Json = dict[str, Any]
Refusals = tuple[type[TrackerError], ...]

MEANINGS: dict[type[TrackerError], str] = {
    Busy: "The server is overloaded, and this API key is a top sender; retry later.",
    Changed: "Another user changed the object since it was read; nothing was stored.",
    DigestDiffers: "The content does not match its digest; it was discarded.",
    FrameDiffers: "A frame with this number is already stored with other content.",
    InvalidInput: "A parameter, the body or the host name is missing or invalid.",
    LengthRequired: "The body has no Content-Length.",
    MalformedBatch: "The body is not a batch; nothing of it was stored.",
    NoRoom: "The disk is full, or the workspace has reached its quota.",
    NotAllowed: "The API key's scope or the member's role does not permit this.",
    NotAuthenticated: "The API key is missing, unknown, expired or revoked.",
    NotFound: "It does not exist, or the API key may not see it.",
    OutOfOrder: "Earlier frames are missing; continue from `expected`.",
    Pinned: "The run is pinned; unpin it first.",
    RunFinished: "The run is finished, and the API key may not reopen it.",
    TooLarge: "The body exceeds a limit.",
    TooSlow: "Timeout: the body arrived too slowly; send less per request.",
    Unavailable: "The server or its database is busy or unavailable, or too much of the"
    " requested data is not compacted yet; retry later.",
    UnsupportedMedia: "The body's type or encoding is not supported.",
}
ALWAYS: Refusals = (InvalidInput, Unavailable)
BY_SECURITY: dict[str, Refusals] = {
    "CallerAuth": (NotAuthenticated,),
    "ReaderAuth": (NotAuthenticated, NotAllowed),
    "WriterAuth": (NotAuthenticated, NotAllowed),
}
WITH_PATH_PARAMETERS: Refusals = (NotFound,)
WITH_BODY: Refusals = (TooLarge, TooSlow)
OF_BATCHES: Refusals = (
    Busy,
    FrameDiffers,
    LengthRequired,
    MalformedBatch,
    OutOfOrder,
    RunFinished,
    UnsupportedMedia,
)
OF_BLOBS: Refusals = (
    DigestDiffers,
    LengthRequired,
    MalformedBatch,
    NoRoom,
    OutOfOrder,
    UnsupportedMedia,
)
OF_OPERATIONS: dict[str, Refusals] = {
    "gone_receive_gone": (OutOfOrder,),
    "trash_trash_run": (Pinned,),
}

RUN_ID = {"run_id": "$response.body#/runs/0/id"}
PROJECT = {
    "workspace": "$response.body#/projects/0/workspace",
    "project": "$response.body#/projects/0/slug",
}
FIRST_PATH = {
    "run_id": "$request.path.run_id",
    "path": "$response.body#/attributes/0/path",
}
# From an operation to those that take a value of its response as a parameter.
LINKS: dict[str, dict[str, dict[str, str]]] = {
    "projects_read_projects": {
        "runs_read_runs": PROJECT,
        "runs_read_attribute_paths": PROJECT,
        "ladders_read_ladders": PROJECT,
        "ledgers_read_ledger": PROJECT,
    },
    "runs_read_runs": {
        "runs_read_run": RUN_ID,
        "attributes_read_attributes": RUN_ID,
        "diagnoses_read_diagnosis": RUN_ID,
    },
    "attributes_read_attributes": {
        "series_read_series": FIRST_PATH,
        "records_read_records": FIRST_PATH,
    },
    "ladders_read_ladders": {
        "ladders_read_one_ladder": {"ladder_id": "$response.body#/ladders/0/id"}
    },
    "ladders_write_ladder": {
        "ladders_read_one_ladder": {"ladder_id": "$response.body#/id"}
    },
}
PREFIX = "tracker_api_v1_"

STRING: Json = {"type": "string"}
ERROR: Json = {
    "type": "object",
    "description": "Stable; match on this and show the message.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": STRING,
                "message": STRING,
                "expected": {
                    "type": "integer",
                    "description": "Only with `out_of_order`: the frame to go on from,"
                    " or the byte.",
                },
                "first": {
                    "type": "integer",
                    "description": "Only with `frame_differs`: the first frame of the"
                    " batch that is not known to be stored.",
                },
                "stored": {
                    "type": "array",
                    "items": {"type": "integer"},
                    "description": "Only with `frame_differs`: later frames of the"
                    " batch that are stored already.",
                },
            },
            "required": ["code", "message"],
            "additionalProperties": False,
        }
    },
    "required": ["error"],
    "additionalProperties": False,
}
RETRY_AFTER: Json = {
    "Retry-After": {
        "description": "Seconds to wait.",
        "schema": {"type": "integer", "minimum": 1},
    }
}
HEADERS: dict[type[TrackerError], Json] = {
    Busy: RETRY_AFTER,
    NotAuthenticated: {"WWW-Authenticate": {"schema": STRING}},
    Unavailable: RETRY_AFTER,
}


class DescribedAPI(NinjaAPI):
    """A ninja API whose OpenAPI document includes errors."""

    # Any: NinjaAPI's own options.
    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        description = super().get_openapi_schema(**options)
        description["components"]["schemas"] |= plain_views.schemas() | {"Error": ERROR}
        paths = description["paths"]
        paths["/api/v1/ingest/{spool_id}"] = {"post": plain_views.batches()}
        paths["/api/v1/blobs/{digest}"] = {"post": plain_views.blobs()}
        for operations in paths.values():
            for operation in operations.values():
                _add_refusals(operation)
                _add_links(operation)
        paths |= plain_views.health()
        return description


def _add_refusals(operation: Json) -> None:
    by_status: dict[int, list[type[TrackerError]]] = {}
    for refusal in sorted(_refusals(operation), key=lambda each: each.code):
        by_status.setdefault(STATUS[refusal], []).append(refusal)
    operation["responses"] |= {
        int(status): _response(refusals)
        for status, refusals in sorted(by_status.items())
    }


def _refusals(operation: Json) -> set[type[TrackerError]]:
    refusals = {*ALWAYS, *OF_OPERATIONS.get(_name(operation), ())}
    for scheme in operation["security"]:
        for name in scheme:
            refusals.update(BY_SECURITY[name])
    if any(parameter["in"] == "path" for parameter in operation["parameters"]):
        refusals.update(WITH_PATH_PARAMETERS)
    if body := operation.get("requestBody"):
        refusals.update(WITH_BODY)
        if CONTENT_TYPE in body["content"]:
            refusals.update(OF_BATCHES)
        if blobs.CONTENT_TYPE in body["content"]:
            refusals.update(OF_BLOBS)
    return refusals


def _response(refusals: list[type[TrackerError]]) -> Json:
    codes = [refusal.code for refusal in refusals]
    schema = {
        "allOf": [{"$ref": "#/components/schemas/Error"}],
        "properties": {"error": {"properties": {"code": {"enum": codes}}}},
    }
    response: Json = {
        "description": " ".join(
            f"`{refusal.code}`: {MEANINGS[refusal]}" for refusal in refusals
        ),
        "content": {"application/json": {"schema": schema}},
    }
    for refusal in refusals:
        if refusal in HEADERS:
            response["headers"] = HEADERS[refusal]
    return response


def _add_links(operation: Json) -> None:
    name = _name(operation)
    if name in LINKS:
        operation["responses"][200]["links"] = {
            target: {"operationId": PREFIX + target, "parameters": parameters}
            for target, parameters in LINKS[name].items()
        }


def _name(operation: Json) -> str:
    name: str = operation["operationId"].removeprefix(PREFIX)
    return name
