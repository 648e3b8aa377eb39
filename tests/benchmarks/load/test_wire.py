import pytest

from benchmarks.load.wire import get, post, read_reply

WHOLE = (
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n"
    b"Content-Length: 5\r\nServer: granian\r\n\r\nhello"
)
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    b"4\r\nhell\r\nA\r\no, to you \r\n0\r\n\r\n"
)


def test_a_reply_is_read_with_what_it_asks_for():
    reply = read_reply(WHOLE)

    assert reply is not None
    assert (reply.status, reply.retry_after, reply.body) == (429, "7", b"hello")


def test_a_reply_in_chunks_is_put_together():
    reply = read_reply(CHUNKED)

    assert reply is not None
    assert (reply.status, reply.retry_after) == (200, None)
    assert reply.body == b"hello, to you "


@pytest.mark.parametrize("reply", [WHOLE, CHUNKED], ids=["length", "chunks"])
def test_half_a_reply_is_none(reply):
    assert [read_reply(reply[:end]) for end in range(len(reply))] == [None] * len(reply)


def test_a_reply_whose_end_cannot_be_known_is_refused():
    with pytest.raises(ValueError, match="without a length"):
        read_reply(b"HTTP/1.1 200 OK\r\nServer: granian\r\n\r\nhello")


def test_a_request_says_how_long_its_body_is():
    head, _, body = post("/there", b"hello", {"Accept": "x"}).partition(b"\r\n\r\n")

    assert head.startswith(b"POST /there HTTP/1.1\r\n")
    assert b"Content-Length: 5" in head
    assert body == b"hello"
    assert get("/there", {}).endswith(b"\r\n\r\n")
