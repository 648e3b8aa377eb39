from tracker.ingest.paths import bytes_of, read_paths
from tracker.server.caches import Memory


def test_the_least_recently_used_is_forgotten_first():
    memory = Memory(most=3)
    for key in "abc":
        memory.remember(key, key.upper(), weight=1)
    assert memory.get("a") == "A"

    memory.remember("d", "D", weight=1)

    assert [memory.get(key) for key in "abcd"] == ["A", None, "C", "D"]


def test_an_entry_larger_than_the_cache_is_not_kept():
    memory = Memory(most=3)
    memory.remember("a", "A", weight=1)

    memory.remember("heavy", "H", weight=4)

    assert memory.get("heavy") is None


def test_an_entry_stored_twice_counts_once():
    memory = Memory(most=3)
    for _ in range(9):
        memory.remember("a", "A", weight=2)

    assert memory.get("a") == "A"


def test_the_same_paths_are_the_same_object():
    raw = b"\x92\xa1a\xa1b"

    assert read_paths(raw) is read_paths(bytes(bytearray(raw)))


def test_long_paths_weigh_more_than_short_ones():
    assert bytes_of(("x" * 1_000,)) > 10 * bytes_of(("x",))
