from tracker import errors
from tracker.errors import TrackerError
from tracker.server.statuses import STATUS


def kinds(base=TrackerError):
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_refusal_has_a_status_and_a_code_of_its_own():
    ours = [kind for kind in kinds() if kind.__module__ == errors.__name__]
    # A type without its own code is a special case of another one.
    every = [kind for kind in ours if "code" in vars(kind)]

    assert set(every) == set(STATUS)
    assert len({kind.code for kind in every}) == len(every)
