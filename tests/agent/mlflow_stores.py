"""Writes runs as MLflow's stores have them: a folder, a database, a server."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import yaml

BEGAN = 1_700_000_000_000  # milliseconds
_STATUSES = {"RUNNING": 1, "SCHEDULED": 2, "FINISHED": 3, "FAILED": 4, "KILLED": 5}


@dataclass
class StoredRun:
    """A run; metrics are lists of (step, value, seconds after the start)."""

    id: str
    name: str = "baseline"
    experiment: str = "vision"
    status: str = "FINISHED"
    lifecycle: str = "active"
    metrics: dict[str, list[tuple[int, float, float]]] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    artifacts: dict[str, bytes] = field(default_factory=dict)

    def points(self, name):
        """Return (step, value, time in milliseconds) of each point."""
        found = self.metrics[name]
        return [(step, value, BEGAN + round(1e3 * late)) for step, value, late in found]


def write_folder(root, *runs):
    """Write a folder mlruns, and return it."""
    folder = root / "mlruns"
    (folder / ".trash").mkdir(parents=True)
    for name in dict.fromkeys(run.experiment for run in runs):
        place = folder / name
        place.mkdir()
        (place / "traces").mkdir()
        meta = {"experiment_id": name, "name": name, "lifecycle_stage": "active"}
        (place / "meta.yaml").write_text(yaml.safe_dump(meta))
    for run in runs:
        _write_run(folder / run.experiment / run.id, run)
    return folder


def _write_run(place, run):
    meta = {
        "artifact_uri": "file:///C:/Users/ann/mlruns/artifacts",
        "end_time": BEGAN + 60_000,
        "lifecycle_stage": run.lifecycle,
        "run_id": run.id,
        "run_name": run.name,
        "start_time": BEGAN,
        "status": _STATUSES[run.status],
        "tags": [],
    }
    (place / "artifacts").mkdir(parents=True)
    (place / "meta.yaml").write_text(yaml.safe_dump(meta, allow_unicode=True))
    for name in run.metrics:
        lines = (f"{time} {value} {step}\n" for step, value, time in run.points(name))
        _write(place / "metrics" / name, "".join(lines).encode())
    for kind, values in (("params", run.params), ("tags", run.tags)):
        for name, text in values.items():
            _write(place / kind / name, text.encode())
    for name, content in run.artifacts.items():
        _write(place / "artifacts" / name, content)


def _write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def write_database(root, *runs):
    """Write a database with the artifacts below `root`/mlruns, and return it."""
    path = root / "mlflow.db"
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT);
        CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time BIGINT,
            end_time BIGINT, lifecycle_stage TEXT, artifact_uri TEXT,
            experiment_id INTEGER);
        CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT,
            step BIGINT, is_nan BOOLEAN);
        CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);
        CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);
        """
    )
    names = list(dict.fromkeys(run.experiment for run in runs))
    for number, name in enumerate(names):
        row = (number, name, "active")
        database.execute("INSERT INTO experiments VALUES (?, ?, ?)", row)
    for run in runs:
        place = root / "mlruns" / str(names.index(run.experiment)) / run.id
        _insert(database, run, names.index(run.experiment), place / "artifacts")
    database.commit()
    database.close()
    return path


def _insert(database, run, experiment, artifacts):
    times = (BEGAN, BEGAN + 60_000)
    row = (run.id, run.name, run.status, *times, run.lifecycle)
    database.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*row, artifacts.as_uri(), experiment),
    )
    for name in run.metrics:
        for step, value, time in run.points(name):
            largest = sys.float_info.max
            is_nan = value != value  # noqa: PLR0124 - NaN
            stored = 0.0 if is_nan else max(min(value, largest), -largest)
            point = (name, stored, time, run.id, step, is_nan)
            database.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", point)
    for table, values in (("params", run.params), ("tags", run.tags)):
        for name, text in values.items():
            query = f"INSERT INTO {table} VALUES (?, ?, ?)"
            database.execute(query, (name, text, run.id))
    for name, content in run.artifacts.items():
        _write(artifacts / name, content)


class TrackingServer:
    """Serves runs over MLflow's REST API, one row per page."""

    def __init__(self, *runs, authorization=""):
        self.runs = runs
        self.authorization = authorization
        # Responses to send instead, by endpoint.
        self.replaced = {}
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self._answer({})

            def do_POST(self):
                length = int(self.headers["Content-Length"])
                self._answer(json.loads(self.rfile.read(length)))

            def _answer(self, body):
                given = self.headers.get("Authorization", "")
                if double.authorization and given != double.authorization:
                    self._send(401, b"Not authenticated")
                    return
                parts = urlsplit(self.path)
                query = {key: value[0] for key, value in parse_qs(parts.query).items()}
                found = double.answer(parts.path, {**query, **body})
                if isinstance(found, bytes):
                    self._send(200, found)
                elif found is None:
                    error = {"error_code": "NOT_FOUND", "message": "No such thing."}
                    self._send(404, json.dumps(error).encode())
                else:
                    self._send(200, json.dumps(found).encode())

            def _send(self, status, content):
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/tracking/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def answer(self, path, query):
        place = path.removeprefix("/tracking/").removeprefix("api/2.0/mlflow/")
        if place in self.replaced:
            return self.replaced[place]
        if place == "experiments/search":
            names = dict.fromkeys(run.experiment for run in self.runs)
            rows = [{"experiment_id": name, "name": name} for name in names]
            return _page("experiments", rows, query)
        if place == "runs/search":
            rows = [
                _run_row(run)
                for run in self.runs
                if [run.experiment] == query["experiment_ids"]
                and run.lifecycle == "active"
            ]
            return _page("runs", rows, query)
        run = next(run for run in self.runs if run.id == query["run_id"])
        if place == "metrics/get-history":
            rows = [
                {"value": _json_number(value), "step": step, "timestamp": time}
                for step, value, time in run.points(query["metric_key"])
            ]
            return _page("metrics", rows, query)
        if place == "artifacts/list":
            return {"files": _listed(run, query.get("path", ""))}
        return run.artifacts.get(query["path"])

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _page(name, rows, query):
    first = int(query.get("page_token") or 0)
    page = {name: rows[first : first + 1]}
    is_last = first + 1 >= len(rows)
    return page if is_last else {**page, "next_page_token": str(first + 1)}


def _run_row(run):
    info = {
        "run_id": run.id,
        "run_name": run.name,
        "status": run.status,
        "start_time": BEGAN,
        "end_time": BEGAN + 60_000,
    }
    data = {
        "metrics": [{"key": name} for name in run.metrics],
        "params": _pairs(run.params),
        "tags": _pairs(run.tags),
    }
    # Empty lists are omitted.
    return {"info": info, "data": {name: rows for name, rows in data.items() if rows}}


def _pairs(values):
    return [{"key": name, "value": text} for name, text in values.items()]


def _json_number(value):
    names = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
    return names.get(str(value), value)


def _listed(run, folder):
    start = f"{folder}/" if folder else ""
    rows = {}
    for path in run.artifacts:
        if path.startswith(start):
            name, slash, _ = path[len(start) :].partition("/")
            rows[start + name] = {"path": start + name, "is_dir": bool(slash)}
    return list(rows.values())
