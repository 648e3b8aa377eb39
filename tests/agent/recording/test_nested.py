"""Values of settings objects from any library."""

from __future__ import annotations

import argparse
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace

import attrs
import pytest
from pydantic import BaseModel

from seamark.errors import UnsupportedValue
from seamark.recording.nested import flatten

EXPECTED = {"params/lr": 0.1, "params/model/depth": 3}


@dataclass
class DataModel:
    depth: int = 3


@dataclass
class Data:
    lr: float = 0.1
    model: DataModel = field(default_factory=DataModel)


@attrs.define
class AttrsModel:
    depth: int = 3


@attrs.define
class Attrs:
    lr: float = 0.1
    model: AttrsModel = attrs.Factory(AttrsModel)


class PydanticModel(BaseModel):
    depth: int = 3


class Pydantic(BaseModel):
    lr: float = 0.1
    model: PydanticModel = PydanticModel()


class ConfigDict:
    """Like ml_collections: not a mapping, and without __dict__."""

    def __init__(self, **values):
        object.__setattr__(self, "_values", values)

    def keys(self):
        return self._values.keys()

    def __getitem__(self, key):
        return self._values[key]


Named = namedtuple("Named", ["lr", "model"])
NamedModel = namedtuple("NamedModel", ["depth"])


def leaves(value):
    refused = []

    def refuse(error, path):
        error.name(path)
        refused.append(str(error))

    return dict(flatten("params", value, refuse=refuse)), refused


@pytest.mark.parametrize(
    "settings",
    [
        {"lr": 0.1, "model": {"depth": 3}},
        argparse.Namespace(lr=0.1, model=argparse.Namespace(depth=3)),
        SimpleNamespace(lr=0.1, model=SimpleNamespace(depth=3)),
        Data(),
        Attrs(),
        Pydantic(),
        ConfigDict(lr=0.1, model=ConfigDict(depth=3)),
        Named(0.1, NamedModel(3)),
    ],
    ids=lambda settings: type(settings).__name__,
)
def test_settings_become_paths(settings):
    assert leaves(settings) == (EXPECTED, [])


@pytest.mark.parametrize("kind", [Data, Attrs, Pydantic, Named])
def test_a_class_of_settings_holds_nothing(kind):
    assert leaves(kind) == ({"params": kind}, [])


def test_a_field_that_is_not_set_is_no_leaf():
    settings = Attrs()
    del settings.lr

    assert leaves(settings) == ({"params/model/depth": 3}, [])


def test_what_cannot_be_read_is_refused_by_its_path():
    class Missing(dict):
        def __getitem__(self, key):
            raise LookupError(key)

    found, [why] = leaves({"lr": 0.1, "model": Missing(depth=3)})

    assert found == {"params/lr": 0.1}
    assert why == "A Missing for 'params/model/depth' cannot be read (LookupError)."


def test_too_many_are_refused_together():
    settings = 1
    for _ in range(20):
        settings = {"a": settings, "b": settings}

    with pytest.raises(UnsupportedValue, match="more than 100000 values"):
        leaves(settings)
