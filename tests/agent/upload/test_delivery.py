from __future__ import annotations

import pytest

from seamark import messages
from seamark.queue.frames import read_frames
from seamark.queue.spool import create_spool
from seamark.queue.spool_reader import SpoolReader
from seamark.servers import Server
from seamark.upload.delivery import Delivery
from seamark.upload.request_limits import LARGEST_BATCH_BYTES, RequestLimits
from seamark.upload.responses import Reply
from seamark.upload.transport import HttpTransport
from seamark.user_warnings import Notices
from tests.agent.queue.test_spool import ORIGIN
from tests.agent.tracker_double import TOKEN, Scripted, TrackerDouble


@pytest.fixture
def spool(tmp_path):
    opened = create_spool(tmp_path / "spools", ORIGIN, url=None)
    for number in range(2, 9):
        column = [float(number)]
        opened.write(messages.payload([messages.points(["a"], column, [0], [column])]))
    yield opened
    opened.close()


@pytest.fixture
def delivery(spool, tracker):
    transport = HttpTransport(Server(tracker.url, TOKEN))
    yield Delivery(SpoolReader(spool.folder), transport, Notices())
    transport.close()


def deliver(delivery, most=30):
    outcomes = []
    while not outcomes or not (outcomes[-1].is_done or outcomes[-1].is_deferred):
        outcomes.append(delivery.send_some())
        assert len(outcomes) < most
    return outcomes


def stored(tracker):
    return tracker.values("a")


ALL = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
# Only a tracker's word may cost a frame.
MALFORMED = b'{"error": {"code": "malformed_batch", "message": "no"}}'
TOO_LARGE = b'{"error": {"code": "too_large", "message": "no"}}'


def test_everything_arrives_and_is_acknowledged(delivery, tracker, spool):
    deliver(delivery)

    assert stored(tracker) == ALL
    assert SpoolReader(spool.folder).acknowledged == 8


@pytest.mark.parametrize("status", [500, 502, 504, 599, 200])
def test_a_server_that_fails_is_asked_again(delivery, tracker, status):
    tracker.script.append(Scripted(status, b"<html>"))

    outcomes = deliver(delivery)

    assert 0 < outcomes[0].wait_seconds <= 0.5
    assert stored(tracker) == ALL


def test_a_lost_answer_repeats_the_batch_and_stores_it_once(delivery, tracker):
    tracker.script.extend([Scripted(0, stores=True, cuts=True)] * 2)

    deliver(delivery)

    assert stored(tracker) == ALL


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("1", 1), ("3600", 3600), ("999999", 3600)],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_says_how_long_to_wait(
    delivery, tracker, status, header, seconds
):
    tracker.script.append(Scripted(status, headers={"Retry-After": header}))

    assert delivery.send_some().wait_seconds == seconds


@pytest.mark.parametrize(
    "header", ["soon", "-1", "Thu, 01 Jan 1970 00:00:00 GMT", "1e99", ""]
)
def test_an_odd_wait_is_not_for_ever(delivery, tracker, header):
    tracker.script.append(Scripted(503, headers={"Retry-After": header}))

    assert delivery.send_some().wait_seconds <= 0.5


@pytest.mark.parametrize("header", ["0", "Thu, 01 Jan 1970 00:00:00 GMT"])
@pytest.mark.parametrize("status", [429, 503])
def test_who_is_told_to_come_at_once_comes_later_each_time(
    delivery, tracker, status, header
):
    tracker.script.extend([Scripted(status, headers={"Retry-After": header})] * 5)

    waits = [delivery.send_some().wait_seconds for _ in range(5)]

    # Each time twice as long, with jitter.
    longest = [0.5 * 2**number for number in range(5)]
    assert all(
        most / 2 <= wait <= most for wait, most in zip(waits, longest, strict=True)
    )


@pytest.mark.parametrize("status", [401, 403, 404, 415, 422, 301, 302, 307, 308])
def test_a_refusal_holds_everything_and_is_told_once(delivery, tracker, caplog, status):
    elsewhere = {"Location": "http://127.0.0.1:1/"}
    tracker.script.extend([Scripted(status, headers=elsewhere)] * 3)

    outcomes = [delivery.send_some() for _ in range(3)]

    assert {(o.is_deferred, o.wait_seconds) for o in outcomes} == {(True, 60.0)}
    assert len(caplog.records) == 1
    deliver(delivery)
    assert stored(tracker) == ALL


def test_that_a_spool_is_held_is_told_once_though_another_is_taken(
    delivery, tracker, tmp_path, caplog
):
    refused = create_spool(tmp_path / "spools", ORIGIN, url=None)
    held = Delivery(SpoolReader(refused.folder), delivery.transport, delivery._notices)
    for _ in range(3):
        tracker.script.append(Scripted(404))
        assert held.send_some().is_deferred
        # Only that the process is alive.
        assert not delivery.report_alive().is_deferred
    assert len(caplog.records) == 1

    deliver(held)
    tracker.script.append(Scripted(404))
    refused.write(messages.payload([]))
    assert held.send_some().is_deferred
    refused.close()

    assert len(caplog.records) == 2


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_token_is_not_carried_to_where_a_redirect_points(delivery, tracker, status):
    other = TrackerDouble()
    try:
        place = {"Location": f"{other.url}/api/v1/ingest/x"}
        tracker.script.append(Scripted(status, headers=place))

        assert delivery.send_some().is_deferred
        assert other.requests == []
    finally:
        other.stop()


@pytest.mark.parametrize(
    ("answer", "is_deferred", "least_wait"),
    [
        (Scripted(400), False, 0.1),
        (Scripted(400, MALFORMED), True, 60),
        (Scripted(401), True, 60),
        (Scripted(403), True, 60),
        (Scripted(404), True, 60),
        (Scripted(409), False, 0.1),
        (Scripted(413), True, 60),
        (Scripted(413, TOO_LARGE), True, 60),
        (Scripted(422), True, 60),
        (Scripted(429, headers={"Retry-After": "0"}), False, 0.1),
        (Scripted(429, headers={"Retry-After": "1"}), False, 1),
        (Scripted(429, headers={"Retry-After": "3600"}), False, 3600),
        (Scripted(429, headers={"Retry-After": "junk"}), False, 0.1),
        (Scripted(500), False, 0.1),
        (Scripted(501), False, 0.1),
        (Scripted(502), False, 0.1),
        (Scripted(503), False, 0.1),
        (Scripted(504), False, 0.1),
        (Scripted(200, b"<html>sign in</html>"), False, 0.1),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Scripted) else None,
)
def test_whatever_a_server_answers_the_first_frame_is_kept_and_sent_again(
    tracker, tmp_path, answer, is_deferred, least_wait
):
    opened = create_spool(tmp_path / "one", ORIGIN, url=None)
    transport = HttpTransport(Server(tracker.url, TOKEN))
    sending = Delivery(SpoolReader(opened.folder), transport, Notices())
    tracker.script.append(answer)

    outcome = sending.send_some()

    assert outcome.is_deferred is is_deferred
    assert outcome.wait_seconds >= least_wait
    assert not tracker.frames
    sending.send_some()
    assert [len(frames) for frames in tracker.frames.values()] == [1]
    transport.close()
    opened.close()


def test_out_of_order_goes_on_where_the_server_says(delivery, tracker, spool):
    delivery.spool.acknowledge(5)

    deliver(delivery)

    # The double stores nothing of a batch with a gap.
    assert stored(tracker) == ALL
    assert [body[:0] for _, _, body in tracker.requests] == [b""] * 2


def test_a_server_that_asks_for_what_it_is_sent_is_not_hurried(delivery, tracker):
    tracker.script.append(Scripted(409, b'{"error": {"expected": 1}}'))

    assert delivery.send_some().wait_seconds > 0


@pytest.mark.parametrize("body", [TOO_LARGE, b"<html>"])
def test_a_batch_that_is_too_large_is_halved(delivery, tracker, body):
    tracker.script.extend([Scripted(413, body)] * 2)

    deliver(delivery)

    first, second, third = [len(body) for _, _, body in tracker.requests][:3]
    assert stored(tracker) == ALL
    assert first > second > third


class Proxy(HttpTransport):
    """Refuses larger batches, as a proxy does in front of a tracker."""

    limit = 150

    def __init__(self, server):
        super().__init__(server)
        self.refused = []

    def send(self, spool_id, body):
        if len(body) > self.limit:
            self.refused.append(len(body))
            return Reply(413, None, b"<html>")
        return super().send(spool_id, body)


def test_batches_stay_below_the_size_that_a_proxy_refused(tracker, spool):
    limits, proxy = RequestLimits(), Proxy(Server(tracker.url, TOKEN))
    reader = SpoolReader(spool.folder)

    deliver(Delivery(reader, proxy, Notices(), limits=limits))
    refused = len(proxy.refused)
    reader.acknowledge(0)
    deliver(Delivery(reader, proxy, Notices(), limits=limits))
    proxy.close()

    assert stored(tracker) == ALL
    assert 0 < refused <= 3
    assert len(proxy.refused) == refused


def test_a_frame_that_no_proxy_lets_through_is_kept_with_a_warning_that_helps(
    tracker, spool, caplog
):
    proxy = Proxy(Server(tracker.url, TOKEN))
    proxy.limit = 10
    delivery = Delivery(SpoolReader(spool.folder), proxy, Notices())

    outcomes = deliver(delivery)

    assert outcomes[-1].wait_seconds == 60
    assert caplog.text.count("client_max_body_size") == 1
    proxy.limit = 10_000
    deliver(delivery)
    proxy.close()
    assert stored(tracker) == ALL


def test_what_came_too_slowly_is_sent_again_and_never_set_aside(delivery, tracker):
    tracker.script.extend([Scripted(408)] * 3)

    outcomes = [delivery.send_some() for _ in range(3)]
    deliver(delivery)

    assert all(outcome.wait_seconds > 0 for outcome in outcomes)
    assert delivery._batch_bytes < LARGEST_BATCH_BYTES
    assert stored(tracker) == ALL


def test_a_frame_that_is_too_large_alone_is_set_aside(delivery, tracker):
    deliver_first = delivery.spool.frames_from(1, most_bytes=0)
    delivery._exchange(deliver_first[0].to_bytes(), deliver_first)
    tracker.script.extend([Scripted(413, TOO_LARGE)] * 3)

    deliver(delivery)

    assert stored(tracker) == ALL[1:]
    assert tracker.of_kind("drop") == [{"t": "drop", "points": 1}]


def test_a_frame_that_cannot_be_read_is_set_aside_and_counted(
    delivery, tracker, caplog, spool
):
    # The batch, then frames 1 to 3 alone, of which the third fails.
    tracker.script.append(Scripted(400, MALFORMED))
    tracker.script.extend([Scripted(200, b'{"stored": 1}', stores=True)])
    tracker.script.extend([Scripted(200, b'{"stored": 2}', stores=True)])
    tracker.script.append(Scripted(400, MALFORMED))

    deliver(delivery)

    assert stored(tracker) == [2.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert tracker.of_kind("drop") == [{"t": "drop", "points": 1}]
    kept = spool.folder.parent / "set-aside" / f"{spool.folder.name}.frames"
    assert [frame.number for frame in read_frames(kept.read_bytes())] == [3]
    assert "set-aside" in caplog.text


@pytest.mark.parametrize("status", [400, 413])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>The plain HTTP request was sent to HTTPS port</html>",
        b'{"error": {"code": "invalid_input"}}',
        b'{"error": {"code": ["malformed_batch", "too_large"]}}',
    ],
)
def test_what_is_not_a_trackers_word_costs_no_frame(
    delivery, tracker, spool, status, body
):
    # One frame alone, as of a process that lives.
    delivery.spool.acknowledge(7)
    tracker.script.extend([Scripted(status, body)] * 3)

    outcomes = [delivery.send_some() for _ in range(3)]
    deliver(delivery)

    assert all(outcome.wait_seconds > 0 for outcome in outcomes)
    assert stored(tracker) == ALL
    assert tracker.of_kind("drop") == []
    assert not (spool.folder.parent / "set-aside").exists()


def test_a_first_frame_that_cannot_be_read_holds_the_spool(delivery, tracker):
    tracker.script.extend([Scripted(400, MALFORMED)] * 2)

    assert delivery.send_some().is_deferred is False
    assert delivery.send_some().is_deferred is True


def test_refused_messages_are_told_once_per_code(delivery, tracker, caplog):
    refused = b'{"stored": 8, "refused": [{"code": "invalid_path", "message": "m"}]}'
    tracker.script.append(Scripted(200, refused, stores=True))

    deliver(delivery)

    assert [r.getMessage() for r in caplog.records] == [
        "the server rejected a message: m (invalid_path)"
    ]


@pytest.mark.parametrize(
    "body",
    [b"[]", b'{"stored": "8"}', b'{"stored": true}', b'{"stored": -1}', b"[" * 10_000],
)
def test_an_answer_that_is_no_receipt_acknowledges_nothing(delivery, tracker, body):
    tracker.script.append(Scripted(200, body))

    delivery.send_some()

    assert delivery.spool.acknowledged == 0


def test_a_receipt_for_more_than_was_sent_is_not_believed(delivery, tracker):
    tracker.script.append(Scripted(200, b'{"stored": 1000000}'))

    delivery.send_some()

    assert delivery.spool.acknowledged == 8


def test_a_huge_answer_is_not_read_to_its_end(delivery, tracker):
    tracker.script.append(Scripted(200, b" " * 20_000_000))

    outcome = delivery.send_some()

    assert outcome.is_answered is False


def test_waits_grow_and_vary(delivery, tracker):
    tracker.script.extend([Scripted(500)] * 12)

    waits = [delivery.send_some().wait_seconds for _ in range(12)]

    assert max(waits) <= 60
    assert waits[-1] >= 30
    assert len(set(waits)) == 12


def test_the_token_travels_in_a_header_and_the_body_is_compressed(delivery, tracker):
    deliver(delivery)

    _, headers, _ = tracker.requests[0]
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert headers["Content-Encoding"] == "zstd"
    assert headers["Content-Type"] == "application/vnd.seamark.frames"


def test_the_number_of_a_second_launch_is_reported(delivery, tracker, caplog):
    answer = b'{"stored": 8, "refused": [], "refused_count": 0, "numbered_name": "a-2"}'
    tracker.script.append(Scripted(200, answer))

    deliver(delivery)

    assert "this one is 'a-2'" in caplog.text
