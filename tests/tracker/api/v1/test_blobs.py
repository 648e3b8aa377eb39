import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from tests.builders import make_member
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.models import Blob

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CONTENT = b"weights" * 1_000
SIZE = len(CONTENT)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return tmp_path / "files"


def send(client, body=b"", *, offset=0, size=SIZE, digest=DIGEST, **options):
    return client.post(
        f"/api/v1/blobs/{digest}?size={size}&offset={offset}",
        body,
        content_type=options.get("content_type", "application/octet-stream"),
    )


def stored(folder):
    return [path for path in folder.glob("[0-9]*/*/*") if path.is_file()]


def test_takes_a_content_in_parts(writer, folder):
    first = send(writer, CONTENT[:3_000]).json()
    second = send(writer, CONTENT[3_000:], offset=3_000).json()

    assert first == {"received": 3_000, "is_stored": False}
    assert second == {"received": 7_000, "is_stored": True}
    [path] = stored(folder)
    assert path.name == DIGEST
    assert path.read_bytes() == CONTENT


def test_nothing_is_stored_before_the_last_part(writer, folder):
    send(writer, CONTENT[:-1])

    assert not stored(folder)
    assert not Blob.objects.exists()


def test_an_empty_body_asks_how_much_is_there(writer):
    assert send(writer).json() == {"received": 0, "is_stored": False}
    send(writer, CONTENT[:10])
    assert send(writer).json() == {"received": 10, "is_stored": False}
    send(writer, CONTENT[10:], offset=10)
    assert send(writer).json() == {"received": 7_000, "is_stored": True}


def test_a_part_at_another_offset_gets_the_expected_offset(writer):
    send(writer, CONTENT[:10])

    for offset in (0, 5, 11):
        response = send(writer, CONTENT[offset:], offset=offset)
        assert response.status_code == 409
        assert response.json()["error"]["expected"] == 10


def test_a_wrong_digest_is_refused_and_forgotten(writer, folder):
    response = send(writer, CONTENT[:-1] + b"!")

    assert response.status_code == 422
    assert response.json()["error"]["code"] == "digest_differs"
    assert not stored(folder)
    assert send(writer).json()["received"] == 0
    assert send(writer, CONTENT).json()["is_stored"]


def test_parts_received_before_a_restart_are_part_of_the_checksum(writer, folder):
    send(writer, CONTENT[:3_000])
    [partial] = folder.glob("arriving/*")
    partial.write_bytes(b"x" + CONTENT[1:3_000])
    from tracker.files import folder as module

    module._hashes.forget(partial)

    assert send(writer, CONTENT[3_000:], offset=3_000).status_code == 422


def test_a_server_killed_before_the_check_does_it_when_asked(writer, folder):
    send(writer, CONTENT[:-1])
    [partial] = folder.glob("arriving/*")
    with partial.open("ab") as file:
        file.write(CONTENT[-1:])

    assert send(writer).json() == {"received": 7_000, "is_stored": True}


def test_an_empty_content_is_one_too(writer, folder):
    digest = hashlib.sha256(b"").hexdigest()

    assert send(writer, size=0, digest=digest).json() == {
        "received": 0,
        "is_stored": True,
    }
    assert stored(folder)[0].read_bytes() == b""


def test_contents_of_another_workspace_are_not_disclosed(
    writer, client_with, stranger, folder
):
    send(writer, CONTENT)
    other = client_with(stranger, "log")

    assert send(other).json() == {"received": 0, "is_stored": False}
    assert send(other, CONTENT[:10]).json() == {"received": 10, "is_stored": False}
    assert send(other, CONTENT[10:], offset=10).json()["is_stored"]
    assert len(stored(folder)) == 2


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        ({"size": 10}, 400, "invalid_input"),
        ({"size": "x"}, 400, "invalid_input"),
        ({"size": -1}, 400, "invalid_input"),
        ({"size": 2**53}, 413, "too_large"),
        ({"offset": "x"}, 400, "invalid_input"),
        ({"content_type": "text/html"}, 415, "unsupported_media"),
        ({"digest": "a" * 63}, 404, "not_found"),
        ({"digest": "A" * 64}, 404, "not_found"),
        ({"digest": "..%2f" + "a" * 59}, 404, "not_found"),
        ({"digest": "../" + "a" * 61}, 404, "not_found"),
    ],
)
def test_refuses_clearly_and_stores_nothing(writer, folder, options, status, code):
    response = send(writer, CONTENT, **options)

    assert response.status_code == status
    assert response.json()["error"]["code"] == code
    assert not stored(folder)


def test_a_part_that_is_too_large_is_not_read(writer):
    response = send(writer, bytes(16 * 1024 * 1024 + 1), size=2**30)

    assert response.status_code == 413


def test_a_workspace_holds_no_more_than_it_may(writer, settings):
    settings.WORKSPACE_FILE_BYTES = len(CONTENT)
    send(writer, CONTENT)
    more = CONTENT + b"!"

    response = send(writer, more, size=7_001, digest=hashlib.sha256(more).hexdigest())

    assert response.status_code == 507
    assert response.json()["error"]["code"] == "no_room"


def test_a_token_that_may_write_is_needed(client, reader, client_of, member):
    assert send(client, CONTENT).status_code == 401
    assert send(client_of(member), CONTENT).status_code == 401
    assert send(reader, CONTENT).status_code == 403


def test_a_content_that_is_gone_from_the_disk_is_asked_for_again(writer, folder):
    send(writer, CONTENT)
    stored(folder)[0].unlink()

    assert send(writer).json()["is_stored"] is False
    assert send(writer, CONTENT).json()["is_stored"]
    assert stored(folder)[0].read_bytes() == CONTENT


@pytest.mark.django_db(transaction=True)
def test_the_same_content_many_times_at_once_is_stored_once(api, folder):
    client = api(make_token(make_member(), "many", Scope.LOG))

    def once(_):
        try:
            offset = 0
            for _ in range(1_000):
                response = send(client, CONTENT[offset : offset + 500], offset=offset)
                if response.status_code == 200:
                    if response.json()["is_stored"]:
                        return True
                    offset = response.json()["received"]
                elif response.status_code == 409:
                    offset = response.json()["error"]["expected"]
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(once, range(8))) == [True] * 8

    assert Blob.objects.count() == 1
    assert stored(folder)[0].read_bytes() == CONTENT
