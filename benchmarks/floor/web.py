"""A bare WSGI application: `POST /<run>` stores a batch, `GET /<run>` reads them.

`FLOOR_STORAGE` names the database. `GET /<run>?after=<id>` answers with the next rows;
`GET /<run>/<metric>` with the metric's points in 500 buckets.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from benchmarks.floor.storage import open_storage

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

BUCKETS = 500
# Marks a batch whose series share their steps; no metric has this name.
SHARED = "steps"

storage = open_storage(os.environ["FLOOR_STORAGE"])
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode
_encode_json = msgspec.json.Encoder().encode


def application(
    environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    run, _, metric = environ["PATH_INFO"][1:].partition("/")
    if environ["REQUEST_METHOD"] == "POST":
        storage.write(run, environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        answer = b"stored"
    elif metric:
        answer = chart(run, metric)
    else:
        after = int(environ["QUERY_STRING"].partition("=")[2] or 0)
        answer = _encode(
            [(number, msgspec.Raw(data)) for number, data in storage.read(run, after)]
        )
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]


def chart(run: str, metric: str) -> bytes:
    """Return the mean, minimum and maximum of each bucket, from all points."""
    columns = [
        (batch["steps"], batch["values"][metric])
        if SHARED in batch
        else (batch[metric][0], batch[metric][2])
        for batch in map(_decode, rows(run))
    ]
    steps = np.frombuffer(b"".join(steps for steps, _ in columns))
    values = np.frombuffer(b"".join(values for _, values in columns))
    firsts = np.unique(np.linspace(0, len(steps), BUCKETS, endpoint=False).astype(int))
    if not len(steps):
        return b"{}"
    lengths = np.diff(firsts, append=len(steps))
    return _encode_json(
        {
            "count": len(steps),
            "x": steps[firsts].tolist(),
            "mean": (np.add.reduceat(values, firsts) / lengths).tolist(),
            "minimum": np.minimum.reduceat(values, firsts).tolist(),
            "maximum": np.maximum.reduceat(values, firsts).tolist(),
        }
    )


def rows(run: str) -> Iterator[bytes]:
    after = 0
    while page := storage.read(run, after):
        yield from (data for _, data in page)
        after = page[-1][0]
