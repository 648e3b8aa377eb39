from __future__ import annotations

import random
import sys

import pytest

from seamark.trials.random_numbers import kept, kept_of


class Gpus:
    """PyTorch's module of CUDA, as far as its random numbers go."""

    def __init__(self, *, in_use):
        self.in_use, self.states = in_use, [1, 2]

    def is_initialized(self):
        return self.in_use

    def get_rng_state_all(self):
        assert self.in_use, "asking would have begun to use them"
        return [*self.states]

    def set_rng_state_all(self, states):
        self.states[: len(states)] = states


class Torch:
    def __init__(self, gpus):
        self.cuda, self.state = gpus, 7

    def get_rng_state(self):
        return self.state

    def set_rng_state(self, state):
        self.state = state


class Generator:
    def __init__(self, state):
        self.state = state

    def get_state(self):
        return self.state

    def set_state(self, state):
        self.state = state


class Drawing:
    """A loader or a sampler that may have others within."""

    def __init__(self, generator=None, **within):
        self.generator = generator
        vars(self).update(within)


@pytest.mark.parametrize("in_use", [False, True])
def test_gpus_in_use_go_on_where_they_were_and_others_are_not_asked(
    monkeypatch, in_use
):
    torch = Torch(Gpus(in_use=in_use))
    monkeypatch.setitem(sys.modules, "torch", torch)

    with kept():
        torch.state, torch.cuda.states = 8, [8, 9]

    assert torch.state == 7
    assert torch.cuda.states == ([1, 2] if in_use else [8, 9])


def test_what_fails_keeps_nothing_else_from_being_put_back(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", object())
    monkeypatch.setitem(sys.modules, "numpy.random", object())
    before = random.getstate()

    with kept():
        random.random()

    assert random.getstate() == before


def test_what_is_interrupted_is_put_back():
    def interrupted():
        with kept():
            random.random()
            raise KeyboardInterrupt

    before = random.getstate()

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert random.getstate() == before


def test_generators_of_a_loader_and_of_its_samplers_are_put_back():
    own, of_sampler, of_batches = Generator(1), Generator(2), Generator(3)
    loader = Drawing(
        own,
        sampler=Drawing(of_sampler),
        batch_sampler=Drawing(sampler=Drawing(of_batches)),
    )

    with kept_of(loader):
        for generator in (own, of_sampler, of_batches):
            generator.state = 9

    assert [own.state, of_sampler.state, of_batches.state] == [1, 2, 3]


def test_a_loader_that_has_none_is_as_good():
    with kept_of([1, 2]), kept_of(Drawing(object())):
        pass
