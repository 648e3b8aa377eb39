"""Reads nested dictionaries, lists and configuration objects (pure).

Classes are recognized by their attributes, so that no framework is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import date
from enum import Enum
from itertools import count
from types import MemberDescriptorType
from typing import Any

from seamark.errors import AgentError, InvalidPath, UnsupportedValue
from seamark.recording.duck_types import can, is_array, is_time, list_of

_DEEPEST_NESTING = 32
MAX_MEMBERS = 100_000  # of nested dictionaries, all levels together
# Limit of a list that is one value: lists may contain themselves and each other.
_DEEPEST_LIST, _MAX_ELEMENTS = 16, 20_000

# Types without members.
_LEAVES = frozenset({float, int, bool, str})
# Receives the error and the path of each member that is left out.
Refuse = Callable[[AgentError, str], None]


def flatten(
    path: str, value: object, *, refuse: Refuse, empty: object = "{}"
) -> Iterator[tuple[str, object]]:
    """Yield the leaves of nested dictionaries with their paths; `empty` for empty ones.

    A member that cannot be read is passed to `refuse`; the others are still yielded.
    """
    if not isinstance(path, str):
        raise InvalidPath(path, "is not a string")
    yield from _Walk(refuse, empty).leaves(path, value)


class _Walk:
    """Traverses nested dictionaries, which may contain each other."""

    def __init__(self, refuse: Refuse, empty: object) -> None:
        self._refuse = refuse
        self._empty = empty
        # The dictionaries on the current path, compared by identity.
        self._above: list[object] = []
        self._members = 0

    def leaves(self, path: str, value: object) -> Iterator[tuple[str, object]]:
        """Yield the leaves of a value; UnsupportedValue if there are too many."""
        self._members += 1
        if self._members > MAX_MEMBERS:
            # A few dictionaries that share members at each level expand exponentially.
            raise UnsupportedValue(value, f"is one of more than {MAX_MEMBERS} values")
        # Plain types run no user code: exceptions come from a user's signal
        # handler and must propagate.
        if type(value) in _LEAVES:
            yield path, value
            return
        members = _plain_members(value)
        if members is None:
            yield from self._leaves_of_foreign(path, value)
        elif not members:
            yield path, self._empty
        elif reason := self._not_entered(value):
            self._refuse(UnsupportedValue(value, reason), path)
        else:
            self._above.append(value)
            for name, member in members:
                yield from self.leaves(f"{path}/{name}" if path else name, member)
            self._above.pop()

    def _leaves_of_foreign(
        self, path: str, value: object
    ) -> Iterator[tuple[str, object]]:
        try:
            fields = _fields(value)
            # Copied at once: another thread may change it.
            keys = [] if fields is None else [*fields]
        except Exception as error:  # noqa: BLE001 - foreign code
            # The dictionary's own code ran, here and below, and may raise anything.
            self._refuse(_unread(value, error), path)
            return
        if not keys or fields is None:
            yield path, value if fields is None else self._empty
            return
        if reason := self._not_entered(value):
            self._refuse(UnsupportedValue(value, reason), path)
            return
        self._above.append(value)
        for key in keys:
            below = path
            try:
                name = _key_text(key)
                below = f"{path}/{name}" if path else name
                member = fields[key]
            except Exception as error:  # noqa: BLE001 - foreign code
                self._refuse(_unread(value, error), below)
                continue
            yield from self.leaves(below, member)
        self._above.pop()

    def _not_entered(self, value: object) -> str:
        if any(value is one for one in self._above):
            return "contains itself"
        if len(self._above) == _DEEPEST_NESTING:
            return f"is nested deeper than {_DEEPEST_NESTING} levels"
        return ""


def _plain_members(value: object) -> list[tuple[str, object]] | None:
    """Return the members of a plain dictionary with string keys; None for other
    objects.
    """
    if type(value) is not dict:
        return None
    # A copy, because another thread may change it.
    members = [*value.copy().items()]
    is_plain = {str}.issuperset(type(name) for name, _ in members)
    return members if is_plain else None


def _unread(value: object, error: Exception) -> UnsupportedValue:
    # Without its text: that runs foreign code and may be as long as an array.
    return UnsupportedValue(value, f"cannot be read ({type(error).__name__})")


# argparse.Namespace, types.SimpleNamespace, and ml_collections.
_NAMESPACES = frozenset({"Namespace", "SimpleNamespace"})
_CONFIGURATIONS = frozenset({"ConfigDict", "FrozenConfigDict"})


# Any: the fields of foreign classes are known only at run time.
def _fields(value: Any) -> Mapping[Any, object] | None:
    """Return the fields of a dictionary or configuration object; None for other
    objects.
    """
    if isinstance(value, Mapping):
        return value
    kind = type(value)
    if kind.__name__ in _NAMESPACES:
        return getattr(value, "__dict__", None)
    if kind.__name__ in _CONFIGURATIONS:
        return {key: value[key] for key in value.keys()}  # noqa: SIM118 - no mapping
    if isinstance(value, tuple):
        names = getattr(kind, "_fields", None)
        return None if names is None else dict(zip(names, value, strict=True))
    return _fields_of_class(value, kind)


def _fields_of_class(value: Any, kind: type) -> Mapping[Any, object] | None:
    names = getattr(kind, "__dataclass_fields__", None)
    if names is not None:
        # Dataclasses with slots have no dictionary, and a slot may be empty.
        return {**_slots(value, kind, names), **getattr(value, "__dict__", {})}
    attributes = getattr(kind, "__attrs_attrs__", None)
    if attributes is not None:
        names = [attribute.name for attribute in attributes]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    # Pydantic 2 and 1.
    names = getattr(kind, "model_fields", None)
    if names is None:
        names = getattr(kind, "__fields__", None)
    if isinstance(names, Mapping):
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    return None


def _slots(value: Any, kind: type, names: Mapping[str, object]) -> dict[str, object]:
    return {
        name: getattr(value, name)
        for name in names
        if type(getattr(kind, name, None)) is MemberDescriptorType
        and hasattr(value, name)
    }


def is_list(value: object) -> bool:
    """Return whether a value is a list, a tuple or a configuration sequence."""
    if isinstance(value, (str, bytes, bytearray, memoryview, range)):
        return False
    return isinstance(value, Sequence) and not is_array(value)


def json_text(value: object) -> str:
    """Return a list and its elements as JSON; NaN and infinities as in JavaScript.

    Raises:
        UnsupportedValue: It is too large or nested too deeply.
    """
    # Imported here to keep `import agent` light.
    import json  # noqa: PLC0415

    looked_at = count()

    def plain(each: Any, depth: int) -> Any:
        if depth > _DEEPEST_LIST:
            raise UnsupportedValue(
                value, f"is nested deeper than {_DEEPEST_LIST} levels"
            )
        if next(looked_at) > _MAX_ELEMENTS:
            raise UnsupportedValue(value, f"has more than {_MAX_ELEMENTS:,} elements")
        if isinstance(each, Enum):
            return plain(each.value, depth + 1)
        if each is None or type(each) in _LEAVES:
            return each
        if isinstance(each, Set):
            return sorted((plain(one, depth + 1) for one in each), key=str)
        if is_list(each) and not hasattr(each, "_fields"):
            return [plain(one, depth + 1) for one in each]
        fields = _fields(each)
        if fields is not None:
            return {_key_text(k): plain(v, depth + 1) for k, v in fields.items()}
        return _plain_leaf(each)

    return json.dumps(plain(value, 0), ensure_ascii=False)


# Any: an element of unknown type.
def _plain_leaf(value: Any) -> Any:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, date):  # or a datetime
        return value.isoformat()
    if is_array(value) or (can(value, "item") and not is_time(value)):
        return list_of(value) if can(value, "tolist") else value.item()
    return value if isinstance(value, (int, float)) else str(value)


def _key_text(key: object) -> str:
    if isinstance(key, Enum):
        key = key.value
    # A subclass of str may override its text.
    return str.__str__(key) if isinstance(key, str) else str(key)
