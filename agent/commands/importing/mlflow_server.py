"""Reads MLflow's tracking server over its REST API."""

from __future__ import annotations

import base64
import json
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode, urlsplit

from seamark.importers.mlflow.store import (
    Experiment,
    Metric,
    Report,
    StoredRun,
    Unreadable,
    restored,
)
from seamark.version import VERSION

_SECONDS = 60.0
_ROWS_AT_ONCE = 1_000
_POINTS_AT_ONCE = 25_000
_LARGEST_ERROR_BYTES = 65_536
_DENIED = (401, 403)
_NOT_FOUND = 404
_LATEST = 253_402_214_400_000  # the last day of the year 9999, in milliseconds
_SHOWN = 60  # characters of a malformed value

# Any: JSON.
Json = dict[str, Any]
Number = TypeVar("Number", int, float)


class Server:
    """A tracking server, with the credentials that MLflow's client would use."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._headers = _credentials(parts.username, parts.password)
        host = parts.netloc.rpartition("@")[2]
        self._url = f"{parts.scheme}://{host}{parts.path.rstrip('/')}"

    def experiments(self) -> list[Experiment]:
        rows = self._pages("experiments/search", "experiments", {})
        return [
            Experiment(
                _text(row, "experiment_id", "an experiment"),
                _text(row, "name", "an experiment"),
            )
            for row in rows
            if row.get("lifecycle_stage", "active") == "active"
        ]

    def runs(self, experiment: Experiment, report: Report) -> list[StoredRun]:
        del report  # a server's responses are complete
        query = {
            "experiment_ids": [experiment.id],
            "run_view_type": "ACTIVE_ONLY",
            "order_by": ["attributes.start_time ASC"],
        }
        rows = self._pages("runs/search", "runs", query)
        return [_run(row, experiment) for row in rows]

    def metrics(
        self, run: StoredRun, report: Report
    ) -> Iterator[tuple[str, list[Metric]]]:
        del report
        for name in run.metrics:
            points: list[Metric] = []
            query: Json = {
                "run_id": run.id,
                "metric_key": name,
                "max_results": _POINTS_AT_ONCE,
            }
            while True:
                answer = self._get("metrics/get-history", query)
                points += [_metric(row, name) for row in _rows(answer, "metrics")]
                if not (token := answer.get("next_page_token")):
                    break
                query["page_token"] = token
            yield name, points

    def artifacts(self, run: StoredRun) -> list[str]:
        found, folders = list[str](), [""]
        while folders:
            query: Json = {"run_id": run.id, "path": folders.pop()}
            while True:
                answer = self._get("artifacts/list", query)
                for row in _rows(answer, "files"):
                    path = _text(row, "path", "an artifact")
                    (folders if row.get("is_dir") else found).append(path)
                if not (token := answer.get("next_page_token")):
                    break
                query["page_token"] = token
        return sorted(found)

    def fetch(self, run: StoredRun, path: str, folder: Path) -> Path:
        target = folder / (PurePosixPath(path).name or "file")
        query = urlencode({"run_uuid": run.id, "run_id": run.id, "path": path})
        with (
            self._opened(f"{self._url}/get-artifact?{query}", None) as answer,
            target.open("wb") as file,
        ):
            try:
                shutil.copyfileobj(answer, file)
            except (OSError, HTTPException) as error:
                raise Unreadable(f"the download of {path!a} broke off") from error
        return target

    def _pages(self, place: str, name: str, query: Json) -> Iterator[Json]:
        body = {**query, "max_results": _ROWS_AT_ONCE}
        while True:
            answer = self._ask(f"{self._url}/api/2.0/mlflow/{place}", body)
            yield from _rows(answer, name)
            if not (token := answer.get("next_page_token")):
                return
            body["page_token"] = token

    def _get(self, place: str, query: Json) -> Json:
        address = f"{self._url}/api/2.0/mlflow/{place}?{urlencode(query)}"
        return self._ask(address, None)

    def _ask(self, address: str, body: Json | None) -> Json:
        with self._opened(address, body) as answer:
            try:
                found = json.loads(answer.read())
            except (OSError, HTTPException, ValueError, RecursionError) as error:
                raise Unreadable(self._strange()) from error
        if not isinstance(found, dict):
            raise Unreadable(self._strange())
        return found

    # Any: what urllib opens.
    def _opened(self, address: str, body: Json | None) -> Any:
        request = urllib.request.Request(
            address,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Content-Type": "application/json",
                "User-Agent": f"seamark-agent/{VERSION}",
                **self._headers,
            },
        )
        opener = urllib.request.build_opener(_NoRedirects)
        try:
            return opener.open(request, timeout=_SECONDS)
        except urllib.error.HTTPError as error:
            with error:
                raise Unreadable(self._refusal(error)) from error
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise Unreadable(f"{self._url} cannot be reached: {reason}") from error

    def _refusal(self, error: urllib.error.HTTPError) -> str:
        if error.code in _DENIED:
            return (
                f"{self._url} rejects the request ({error.code}): set"
                " MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and"
                " MLFLOW_TRACKING_PASSWORD"
            )
        try:
            message = json.loads(error.read(_LARGEST_ERROR_BYTES))["message"]
        except (OSError, HTTPException, ValueError, LookupError, TypeError):
            if error.code == _NOT_FOUND:
                return self._strange()
            message = error.reason
        return f"{self._url} answers {error.code}: {str(message)[:300]}"

    def _strange(self) -> str:
        return f"{self._url} is not a tracking server of MLflow"


def _credentials(user: str | None, password: str | None) -> dict[str, str]:
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    user = unquote(user or "") or os.environ.get("MLFLOW_TRACKING_USERNAME")
    password = unquote(password or "") or os.environ.get("MLFLOW_TRACKING_PASSWORD")
    if user and password:
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}
    return {"Authorization": f"Bearer {token}"} if token else {}


def _run(row: Json, experiment: Experiment) -> StoredRun:
    info, data = _member(row, "info", "a run"), _member(row, "data", "a run")
    run_id = _text(info, "run_id" if info.get("run_id") else "run_uuid", "a run")
    owner = f"the run {run_id[:_SHOWN]!a}"
    tags = _pairs(data, "tags")
    return StoredRun(
        id=run_id,
        name=str(info.get("run_name") or tags.get("mlflow.runName", "")),
        experiment=experiment.name,
        status=str(info.get("status") or ""),
        start=_time(info, "start_time", owner) if info.get("start_time") else None,
        end=_time(info, "end_time", owner) if info.get("end_time") else None,
        artifact_uri=str(info.get("artifact_uri") or ""),
        params=_pairs(data, "params"),
        tags=tags,
        metrics=tuple(
            _text(each, "key", "a metric") for each in _rows(data, "metrics")
        ),
    )


def _metric(row: Json, name: str) -> Metric:
    # Default values are omitted; NaN and infinities are texts.
    owner = f"a point of {name[:_SHOWN]!a}"
    return Metric(
        restored(_number(row, "value", owner, float)),
        _number(row, "step", owner, int),
        _time(row, "timestamp", owner),
    )


def _rows(found: Json, name: str) -> list[Json]:
    """Return a list of objects, which is omitted if it is empty."""
    rows = found.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _malformed(name, "a response", rows)
    return rows


def _member(found: Json, name: str, owner: str) -> Json:
    member = found.get(name) or {}
    if not isinstance(member, dict):
        raise _malformed(name, owner, member)
    return member


def _pairs(data: Json, name: str) -> Mapping[str, str]:
    owner = f"one of the {name}"
    return {
        _text(row, "key", owner): str(row.get("value", "")) for row in _rows(data, name)
    }


def _text(row: Json, name: str, owner: str) -> str:
    if row.get(name) is None:
        raise Unreadable(f"the server sends {owner} without {name!a}")
    return str(row[name])


def _time(row: Json, name: str, owner: str) -> int:
    moment = _number(row, name, owner, int)
    if moment > _LATEST:
        raise _malformed(name, owner, moment)
    return moment


def _number(row: Json, name: str, owner: str, kind: Callable[[Any], Number]) -> Number:
    value = row.get(name, 0)
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise _malformed(name, owner, value) from error


def _malformed(name: str, owner: str, value: object) -> Unreadable:
    return Unreadable(
        f"the server sends {owner} with malformed {name!a}: {ascii(value)[:_SHOWN]}"
    )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    # Any: as urllib declares it.
    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect: the credentials are only for the named server."""
