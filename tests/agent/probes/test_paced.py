import pytest

from seamark.probes.nvidia.paced import Cost, Paced


class Library:
    NVMLError = ZeroDivisionError


class Clocks:
    """Each query takes the given time."""

    def __init__(self, cpu=0.0, waited=0.0):
        self.cost, self.now = Cost(cpu, waited), Cost(0.0, 0.0)
        self.asked = False

    def __call__(self):
        if self.asked:
            self.now = Cost(*map(sum, zip(self.now, self.cost, strict=True)))
        self.asked = not self.asked
        return self.now


def turns(paced, seconds):
    """Return at which of the seconds it answered."""
    return [now for now in range(seconds) if paced.sample(Library, float(now))]


@pytest.mark.parametrize(
    ("clocks", "times"),
    [
        (Clocks(cpu=0.0005, waited=0.01), [*range(10)]),
        (Clocks(cpu=0.004), [0, 1, 2, 6]),
        (Clocks(waited=0.4), [0, 1, 2, 6]),
        (Clocks(cpu=0.5), [0, 1, 2]),
    ],
    ids=["cheap", "works too long", "waits too long", "never again"],
)
def test_a_question_is_asked_as_often_as_it_may_cost(clocks, times):
    paced = Paced("x", 1.0, lambda _: {"x": 1.0}, clocks)

    assert turns(paced, 10) == times


def test_a_question_that_costs_too_much_is_dropped_and_says_so():
    paced = Paced("x", 1.0, lambda _: {"x": 1.0}, Clocks(cpu=0.5))
    turns(paced, 3)

    assert paced.is_too_dear
    assert not paced.is_offered


def test_a_question_that_only_waits_is_never_dropped():
    paced = Paced("x", 1.0, lambda _: {"x": 1.0}, Clocks(waited=500.0))

    assert turns(paced, 130) == [0, 1, 2, 62, 122]
    assert paced.is_offered


def test_one_slow_answer_is_forgiven():
    clocks = Clocks(cpu=9.0)
    paced = Paced("x", 1.0, lambda _: {"x": 1.0}, clocks)
    paced.sample(Library, 0.0)
    clocks.cost = Cost(0.0, 0.0)

    assert turns(paced, 10) == [*range(1, 10)]
