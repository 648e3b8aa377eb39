"""Attacks on the running server while a healthy script logs.

Each attack receives the refusal documented in docs/protocol.md and
docs/how-to/http-api.md. After each, the server answers and still serves the healthy
script.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import socket
import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import msgspec
import pytest
import zstandard

from tests.builders import frame, frames, open_message, points_message, set_message
from tests.services import free_port
from tests.slow.end_to_end.installation import ROOT, Up, eventually

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

MIB = 1024 * 1024
CONTENT_TYPE = "application/vnd.seamark.frames"
BATCH = frames([[open_message("victim")], [points_message("loss", [1.0, 2.0])]])
OPENING = frames([[open_message("victim")]])
# Placeholder for a lone surrogate, which Python's encoders reject.
MARK, SURROGATE = "@@@", b"\xed\xa0\x80"

HEALTHY = """
import time
import agent

run = agent.init("healthy", project="attacked", monitor=False)
step = 0
while True:
    run["count"].append(float(step), step=step)
    step += 1
    print(step, flush=True)
    time.sleep(0.05)
"""
MAKE_TOKENS = """
import json
import django
django.setup()
from tracker.actions.access import found_installation, make_token
from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.keys import revoke_key
from tracker.actor import Actor, Scope
from tracker.models import Member, Role, Token, User, Workspace

owner = found_installation()
foreign = Member.objects.create(
    user=User.objects.create(username="mallory"),
    workspace=Workspace.objects.create(name="Other", slug="other"),
    role=Role.OWNER,
)
revoked = make_token(owner, "revoked", Scope.MANAGE)
revoke_key(Token.objects.get(name="revoked"), COMMAND)
print(json.dumps({
    "ingest": make_token(owner, "ingest", Scope.LOG),
    "full": make_token(owner, "full", Scope.MANAGE),
    "read": make_token(owner, "read", Scope.READ),
    "foreign": make_token(foreign, "foreign", Scope.MANAGE),
    "revoked": revoked,
}))
"""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    seconds: float

    @property
    def refusal(self):
        """The status and the code of the refusal."""
        error = json.loads(self.body)["error"]
        assert error["message"]
        return self.status, error["code"]


class Attacked:
    """A running server, tokens of every kind, and a script that logs all the time."""

    def __init__(self, up):
        self.up = up
        self.said = up.home / "said"
        self.script = None

    def start(self):
        up = self.up
        up.start()
        made = subprocess.run(
            [sys.executable, "-c", MAKE_TOKENS],
            cwd=ROOT,
            env={**up.environment, "DJANGO_SETTINGS_MODULE": "tracker.settings"},
            capture_output=True,
            text=True,
            check=True,
        )
        self.tokens = json.loads(made.stdout)
        self.ingest_token = self.tokens["ingest"]
        with self.said.open("w") as said:
            self.script = subprocess.Popen(
                [sys.executable, "-c", HEALTHY],
                cwd=ROOT,
                env=up.environment,
                stdout=said,
            )

    def request(self, method, path, body=b"", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.up.port, timeout=20)
        with closing(connection):
            start = time.perf_counter()
            connection.request(
                method, path, body, {k.replace("_", "-"): v for k, v in headers.items()}
            )
            response = connection.getresponse()
            content = response.read()
        return Answer(response.status, content, time.perf_counter() - start)

    def send(self, body, *, spool=None, token=None, **headers):
        """Send a batch like an agent, with the caller's changes."""
        known = {
            "Authorization": f"Bearer {token or self.ingest_token}",
            "Content_Type": CONTENT_TYPE,
        }
        return self.request(
            "POST",
            f"/api/v1/ingest/{spool or uuid4()}",
            body,
            **{**known, **headers},
        )

    def get(self, path, token="full"):
        return self.request(
            "GET", f"/api/v1{path}", Authorization=f"Bearer {self.tokens[token]}"
        )

    def hang(self, head):
        """Send only the headers of a request and three bytes of its body."""
        client = socket.create_connection(("127.0.0.1", self.up.port), timeout=10)
        client.sendall(head.replace("\n", "\r\n").encode() + b"abc")
        return client

    def raw(self, data, *, is_ended=False):
        """Send raw bytes; return the first line of the answer."""
        with socket.create_connection(
            ("127.0.0.1", self.up.port), timeout=10
        ) as client:
            # A server that refuses early may close before it has read everything.
            with suppress(ConnectionError):
                client.sendall(data)
                if is_ended:
                    client.shutdown(socket.SHUT_WR)
            return client.recv(65536).partition(b"\r\n")[0].decode()

    def steps(self):
        """Every step of the healthy script that the server has, in order."""
        runs = json.loads(self.get("/projects/home/attacked/runs").body)["runs"]
        path = f"/runs/{runs[0]['id']}/series?path=count&buckets=10000"
        (line,) = json.loads(self.get(path).body)["series"]
        assert line["exact"]
        return line["x"]

    def is_logging(self):
        return self.get("/projects/home/attacked/runs").status == 200 and self.steps()

    def memory(self):
        """Bytes that the web server and its worker process hold."""
        web = self.up.child("web")
        family = [web, *web.children(recursive=True)]
        return sum(process.memory_info().rss for process in family)

    def log(self):
        return (self.up.data / "logs/web.log").read_text(errors="replace")

    def end(self):
        """Kill the script; return how many steps it had logged."""
        if self.script is None:
            return 0
        self.script.kill()
        self.script.wait()
        return len(self.said.read_text().splitlines())


@pytest.fixture(scope="module")
def server(tmp_path_factory, empty_database):
    up = Up(tmp_path_factory.mktemp("home"), free_port(), empty_database)
    attacked = Attacked(up)
    try:
        attacked.start()
        eventually(attacked.is_logging)
        yield attacked
        logged = attacked.end()
        # All except data not yet in the queue when it was killed; no duplicates.
        eventually(lambda: len(attacked.steps()) > logged - 200)
        steps = attacked.steps()
        assert steps == list(range(len(steps)))
    finally:
        attacked.end()
        if up.process is not None:
            up.process.kill()
            up.process.communicate()


@pytest.fixture(autouse=True)
def nothing_else_is_affected(server):
    """After each attack the server is well and the healthy script is served."""
    before = server.steps()[-1]
    faults = server.log().count("Internal Server Error")
    yield
    answer = server.request("GET", "/readyz")
    assert answer.status == 200
    assert answer.seconds < 10
    # An agent that was asked to wait may wait for a minute.
    eventually(lambda: server.steps()[-1] > before, 90)
    assert server.log().count("Internal Server Error") == faults


def zstd_bomb(size):
    writer = zstandard.ZstdCompressor(level=19).compressobj()
    zeros = bytes(MIB)
    pieces = [writer.compress(zeros) for _ in range(size // MIB)]
    return b"".join([*pieces, writer.flush()])


def gzip_bomb(size):
    writer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    zeros = bytes(MIB)
    pieces = [writer.compress(zeros) for _ in range(size // MIB)]
    return b"".join([*pieces, writer.flush()])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(os.urandom(5_000), id="random bytes"),
        pytest.param(b"\0" * 5_000, id="zeros"),
        pytest.param(BATCH[:-3], id="cut short"),
        pytest.param(BATCH[:10], id="half a header"),
        pytest.param(b"\0" + BATCH[1:], id="wrong CRC"),
        pytest.param(BATCH[:-1] + b"\xff", id="flipped payload"),
        pytest.param(OPENING + frames([[]], first=3), id="gap"),
        pytest.param(frames([[]]), id="no open"),
        pytest.param(frames([b"\xc1"]), id="not MessagePack"),
        pytest.param(frames([b"\xdd\xff\xff\xff\xff"]), id="false count"),
        pytest.param(frames([b"\x91" * 100_000]), id="nested"),
    ],
)
def test_what_is_not_a_batch_is_malformed(server, body):
    answer = server.send(body)

    assert answer.refusal in [(400, "malformed_batch"), (413, "too_large")]
    assert answer.seconds < 10


def test_a_gap_after_what_is_stored_says_where_to_go_on(server):
    spool = uuid4()
    server.send(BATCH, spool=spool)

    answer = server.send(frames([[]], first=9), spool=spool)

    assert answer.refusal == (409, "out_of_order")
    assert json.loads(answer.body)["error"]["expected"] == 3


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd, zstd", "gzip, zstd", "*"])
def test_unknown_and_stacked_encodings_are_refused(server, encoding):
    answer = server.send(BATCH, Content_Encoding=encoding)

    assert answer.refusal == (415, "unsupported_media")


@pytest.mark.parametrize("encoding", ["zstd", "gzip"])
@pytest.mark.parametrize("change", ["not compressed", "cut short", "doubled"])
def test_damaged_compression_is_malformed(server, encoding, change):
    pack = {"zstd": zstandard.ZstdCompressor().compress, "gzip": gzip.compress}
    packed = pack[encoding](BATCH)
    body = {"not compressed": BATCH, "cut short": packed[:-5], "doubled": packed * 2}

    answer = server.send(body[change], Content_Encoding=encoding)

    assert answer.refusal == (400, "malformed_batch")


def test_another_content_type_is_refused(server):
    answer = server.send(BATCH, Content_Type="application/json")

    assert answer.refusal == (415, "unsupported_media")


@pytest.mark.parametrize(
    ("encoding", "bomb"), [("zstd", zstd_bomb), ("gzip", gzip_bomb)]
)
def test_a_bomb_of_a_gibibyte_costs_neither_time_nor_memory(server, encoding, bomb):
    body = bomb(1024 * MIB)
    before = server.memory()

    answers = [server.send(body, Content_Encoding=encoding) for _ in range(3)]

    assert {answer.refusal for answer in answers} == {(413, "too_large")}
    # Far less than unpacking it takes.
    assert max(answer.seconds for answer in answers) < 10
    assert server.memory() - before < 64 * MIB


def test_a_declared_length_beyond_the_limit_is_refused_unread(server):
    answer = server.send(b"x", Content_Length=str(2**40))

    assert answer.refusal == (413, "too_large")


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 5_000, "3\r\nContent-Length: 5"])
def test_a_length_that_is_none_is_not_http(server, length):
    head = f"POST /api/v1/ingest/{uuid4()} HTTP/1.1\r\nHost: 127.0.0.1\r\n"

    line = server.raw(f"{head}Content-Length: {length}\r\n\r\nabc".encode())

    assert line == "HTTP/1.1 400 Bad Request"


def head_of(server, path, **headers):
    lines = [f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items()]
    return f"POST {path} HTTP/1.1\nHost: 127.0.0.1\n{''.join(lines)}\n"


def ingest_head(server, **headers):
    return head_of(
        server,
        f"/api/v1/ingest/{uuid4()}",
        Authorization=f"Bearer {server.ingest_token}",
        Content_Type=CONTENT_TYPE,
        **headers,
    )


def test_a_body_that_ends_before_its_length_is_malformed(server):
    head = ingest_head(server, Content_Length=100).replace("\n", "\r\n").encode()

    assert server.raw(head + b"abc", is_ended=True) == "HTTP/1.1 400 Bad Request"


def test_a_body_in_chunks_needs_a_length(server):
    head = ingest_head(server, Transfer_Encoding="chunked")
    chunks = b"3\r\nabc\r\n0\r\n\r\n"

    line = server.raw(head.replace("\n", "\r\n").encode() + chunks)

    assert line == "HTTP/1.1 411 Length Required"


def test_chunks_without_end_are_refused_unread(server):
    head = ingest_head(server, Transfer_Encoding="chunked")
    chunk = b"10000\r\n" + bytes(65_536) + b"\r\n"

    line = server.raw(head.replace("\n", "\r\n").encode() + chunk * 500)

    assert line == "HTTP/1.1 411 Length Required"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"X-Large: " + b"a" * 2 * MIB, "431 Request Header Fields Too Large"),
        (b"X-Many: a\r\n" * 5_000, "431 Request Header Fields Too Large"),
        (b"X: a\r\n" * 100_000, "431 Request Header Fields Too Large"),
        (b"no header", "400 Bad Request"),
    ],
    ids=["large", "many", "a hundred thousand", "none"],
)
def test_unreasonable_headers_are_refused(server, data, line):
    head = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n"

    assert server.raw(head + data + b"\r\n\r\n") == f"HTTP/1.1 {line}"


def test_what_is_not_http_is_refused(server):
    assert server.raw(b"\x16\x03\x01\x02\x00\x01\xfc").endswith("400 Bad Request")


def drips(client, bytes_sent):
    """Send a byte a second until there is an answer; return its first line."""
    client.settimeout(1)
    for _ in range(bytes_sent):
        with suppress(ConnectionError):
            client.sendall(b"x")
        with suppress(TimeoutError):
            return client.recv(65536).partition(b"\r\n")[0].decode()
    return "nothing"


@pytest.fixture
def hang(server):
    """Start requests that stall; end them when the test ends."""
    with ExitStack() as clients:
        yield lambda head: clients.enter_context(closing(server.hang(head)))


TOO_SLOW = "HTTP/1.1 408 Request Timeout"
# At once, more requests than the server waits for.
UNAVAILABLE = "HTTP/1.1 503 Service Unavailable"


@pytest.mark.parametrize("count", [3, 8])
def test_a_byte_a_second_ends_and_keeps_nobody_from_logging(server, hang, count):
    slow = [hang(ingest_head(server, Content_Length=100)) for _ in range(count)]
    with ThreadPoolExecutor(count) as threads:
        lines = threads.map(lambda client: drips(client, 60), slow)
        answers = [server.send(BATCH, token=server.tokens["full"]) for _ in range(10)]
        # On a busy machine, a request of the same token may be too slow itself.
        eventually(lambda: server.send(BATCH).status == 200)
        lines = list(lines)

    assert {answer.status for answer in answers} == {200}
    assert TOO_SLOW in lines
    assert set(lines) <= {TOO_SLOW, UNAVAILABLE}


def test_bodies_of_which_nothing_comes_end_too(server, hang):
    slow = [hang(ingest_head(server, Content_Length=100)) for _ in range(3)]

    with ThreadPoolExecutor(3) as threads:
        lines = list(threads.map(lambda client: client_says(client, 60), slow))

    assert TOO_SLOW in lines
    assert set(lines) <= {TOO_SLOW, UNAVAILABLE}
    # A client that keeps its connection open occupies a thread, but does not block
    # batches.
    answers = [server.send(BATCH, token=server.tokens["full"]) for _ in range(10)]
    assert {answer.status for answer in answers} == {200}


def client_says(client, seconds):
    client.settimeout(seconds)
    return client.recv(65536).partition(b"\r\n")[0].decode()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells of connections")
def test_the_system_looks_after_each_connection(server):
    with socket.create_connection(("127.0.0.1", server.up.port), timeout=10) as client:
        client.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK")

        eventually(lambda: timer_of(client) == KEEPALIVE)


# A connection with a keep-alive timer in /proc/net/tcp.
KEEPALIVE = "02"


def timer_of(client):
    """Return the timer of the server's end of a connection, as in /proc/net/tcp."""
    ends = [
        f":{port:04X}" for port in (client.getpeername()[1], client.getsockname()[1])
    ]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1].endswith(ends[0]) and fields[2].endswith(ends[1]):
            return fields[5].partition(":")[0]
    return None


def test_slow_forms_of_strangers_do_not_stop_the_server(server, hang):
    head = head_of(
        server,
        "/sign-out",
        Cookie=f"seamark-csrf={'a' * 32}",
        Content_Type="application/x-www-form-urlencoded",
        Content_Length=100,
    )
    for _ in range(20):
        hang(head)

    # Bodies that cannot be read now are rejected, which frees threads.
    eventually(lambda: server.request("GET", "/livez").seconds < 1)
    eventually(lambda: server.send(BATCH).status == 200)


@pytest.mark.parametrize(
    ("token", "refusal"),
    [
        ("read", (403, "not_allowed")),
        ("revoked", (401, "not_authenticated")),
    ],
)
def test_a_token_that_may_not_write_stores_nothing(server, token, refusal):
    name = f"by-{token}"

    answer = server.send(frames([[open_message(name)]]), token=server.tokens[token])

    assert answer.refusal == refusal
    assert name.encode() not in server.get("/projects/home/vision/runs").body


@pytest.mark.parametrize(
    "value",
    [None, "", "Bearer", "Bearer x", "Basic b3duZXI6", "Bearer smk_" + "a" * 5_000],
)
def test_without_a_valid_token_nobody_gets_in(server, value):
    headers = {} if value is None else {"Authorization": value}

    writing = server.request(
        "POST", f"/api/v1/ingest/{uuid4()}", BATCH, Content_Type=CONTENT_TYPE, **headers
    )
    reading = server.request("GET", "/api/v1/projects", **headers)

    assert writing.refusal == reading.refusal == (401, "not_authenticated")


def test_a_token_in_the_address_is_not_seen(server):
    answer = server.request("GET", f"/api/v1/projects?token={server.tokens['full']}")

    assert answer.refusal == (401, "not_authenticated")


def test_an_ingest_token_reads_nothing(server):
    answer = server.request(
        "GET", "/api/v1/projects", Authorization=f"Bearer {server.ingest_token}"
    )

    assert answer.refusal == (403, "not_allowed")


def test_a_foreign_token_cannot_go_on_with_a_spool(server):
    spool = uuid4()
    server.send(BATCH, spool=spool)
    foreign = server.tokens["foreign"]

    assert server.send(BATCH, spool=spool, token=foreign).refusal == (404, "not_found")
    following = server.send(frames([[]], first=3), spool=spool, token=foreign)
    unknown = server.send(frames([[]], first=3), token=foreign)

    # The answer is the same for another user's spool and for an unknown one.
    assert following.body == unknown.body
    assert following.refusal == (409, "out_of_order")
    mine = server.send(frames([[]], first=3), spool=spool)
    assert json.loads(mine.body)["stored"] == 3


def test_a_foreign_workspace_is_not_found(server):
    opening = frames([[open_message("intruder", workspace="home")]])

    answer = server.send(opening, token=server.tokens["foreign"])

    assert answer.refusal == (404, "not_found")


def test_a_foreign_run_and_one_that_is_not_there_look_the_same(server):
    runs = json.loads(server.get("/projects/home/attacked/runs").body)["runs"]

    foreign = server.get(f"/runs/{runs[0]['id']}", "foreign")
    unknown = server.get(f"/runs/{uuid4()}", "foreign")

    assert foreign.refusal == (404, "not_found")
    assert foreign.body == unknown.body


@pytest.mark.parametrize("spool", ["1", "..%2f..%2fetc", "%00", "x" * 2_000, "%ff"])
def test_a_spool_that_is_no_id_is_not_found(server, spool):
    assert server.send(BATCH, spool=spool).refusal == (404, "not_found")


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "traversal": "../../etc/passwd",
    "right to left": "\u202egnp.exe\u2066",
    "prototype": "__proto__",
    "quotes": "'\"`;--{{7*7}}{%x%}",
    "lines": "a\r\nSet-Cookie: x=1",
    "long": "x" * 200,
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_are_stored_as_they_came(server, name):
    # A path is stored without the slashes at its ends; none of these has any.
    sent = [
        [open_message(name, project=name, stage=name[:100], host=name)],
        [
            points_message(f"series/{name}", [1.0]),
            set_message(f"params/{name}", name),
            {"t": "tags", "add": [name], "remove": []},
        ],
    ]

    answer = server.send(frames(sent))

    stored = json.loads(answer.body)
    assert (stored["stored"], stored["refused"]) == (2, [])
    projects = json.loads(server.get("/projects").body)["projects"]
    (slug,) = [one["slug"] for one in projects if one["name"] == name]
    (run,) = json.loads(server.get(f"/projects/home/{slug}/runs").body)["runs"]
    assert run["name"] == name
    assert run["tags"] == [name]
    query = quote(f"series/{name}", safe="")
    read = json.loads(server.get(f"/runs/{run['id']}/series?path={query}").body)
    assert read["series"][0]["path"] == f"series/{name}"
    rows = json.loads(server.get(f"/runs/{run['id']}/attributes").body)["attributes"]
    assert {row["path"]: row["value"] for row in rows}[f"params/{name}"] == name


def unwritable(text):
    """Messages that hold this text in each place; MARK becomes a lone surrogate."""
    messages = [
        points_message(text, [1.0]),
        set_message(text, 1),
        set_message("note", text),
        {"t": "tags", "add": [text], "remove": []},
    ]
    return msgspec.msgpack.encode(messages).replace(MARK.encode(), SURROGATE)


@pytest.mark.parametrize("text", ["a\0b", MARK], ids=["NUL", "lone surrogate"])
def test_what_cannot_be_stored_is_refused_message_by_message(server, text):
    answer = json.loads(server.send(OPENING + frame(unwritable(text), 2)).body)

    assert answer["stored"] == 2
    assert [refused["index"] for refused in answer["refused"]] == [0, 1, 2, 3]
    codes = {refused["code"] for refused in answer["refused"]}
    assert codes <= {"invalid_message", "invalid_path"}


@pytest.mark.parametrize("field", ["run", "project", "stage", "host"])
@pytest.mark.parametrize(
    "text", ["a\0b", MARK, "x" * 1_025], ids=["NUL", "lone surrogate", "long"]
)
def test_an_opening_that_cannot_be_stored_is_malformed(server, field, text):
    opening = msgspec.msgpack.encode([{**open_message("r"), field: text}])

    answer = server.send(frame(opening.replace(MARK.encode(), SURROGATE), 1))

    assert answer.refusal == (400, "malformed_batch")


def test_a_path_beyond_the_limit_is_refused_alone(server):
    paths = ["x" * 1_024, "x" * 1_025, "/", "good"]
    messages = [points_message(path, [1.0]) for path in paths]

    answer = json.loads(server.send(OPENING + frames([messages], first=2)).body)

    refused = [(refused["index"], refused["code"]) for refused in answer["refused"]]
    assert refused == [(1, "invalid_path"), (2, "invalid_path")]


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("/projects/home/attacked/runs?limit=1e9", (400, "invalid_input")),
        ("/projects/home/attacked/runs?search=%00", (400, "invalid_input")),
        ("/projects/home/attacked/runs?offset=-1", (400, "invalid_input")),
        ("/projects/home/%00/runs", (404, "not_found")),
        ("/projects/..%2f..%2fetc/passwd/runs", (404, "not_found")),
        ("/runs/1", (404, "not_found")),
        ("/nowhere", (404, "not_found")),
    ],
)
def test_questions_that_make_no_sense_are_refused(server, path, refusal):
    assert server.get(path).refusal == refusal


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST"])
def test_a_method_that_is_not_offered_is_refused(server, method):
    bearer = f"Bearer {server.tokens['full']}"

    answer = server.request(method, "/api/v1/me", Authorization=bearer)

    assert answer.refusal == (405, "method_not_allowed")


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "evil.test:8713",
        "localhost.evil.test",
        "127.0.0.1.evil.test",
        "127.0.0.1@evil.test",
        "0.0.0.0",
        "",
    ],
)
def test_a_foreign_host_name_is_refused_at_every_address(server, host):
    paths = ["/", "/sign-in", "/livez", "/api/v1/me", "/static/web/icons.svg", "/x"]

    statuses = {path: server.request("GET", path, Host=host).status for path in paths}

    assert set(statuses.values()) == {400}, statuses


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]"])
def test_this_machines_own_names_are_known(server, host):
    answer = server.request("GET", "/livez", Host=host, X_Forwarded_Host="evil.test")

    assert answer.status == 200
