"""Loads a rule again with other limits.

Limits are constants of a rule's module or of a module that it imports. A rule with other limits
is a separate copy of these modules in which the constants have other values. Modules that do not
lead to such a constant are shared by all rules.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from importlib.abc import InspectLoader
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "tracker.diagnosis."
MAX_VARIANTS = 1024

# Module name → constants and their values.
Values = Mapping[str, Mapping[str, float]]


def load_variant(module: str, constants: Mapping[str, float]) -> ModuleType:
    """Return a separate copy of a module in which these constants have other values."""
    values: dict[str, dict[str, float]] = {module: {}}
    for name, value in constants.items():
        for home, original in _homes(module, name):
            values.setdefault(home, {})[original] = value
    return _Variant(values).load(module)


class _Variant:
    """The module copies of one variant, which import only each other."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._copies: dict[str, ModuleType] = {}

    def load(self, name: str) -> ModuleType:
        if name not in self._copies:
            spec = find_spec(name)
            assert spec is not None
            assert isinstance(spec.loader, InspectLoader)
            module = module_from_spec(spec)
            vars(module)["__builtins__"] = {
                **vars(builtins),
                "__import__": self._import,
            }
            # Not in sys.modules, so that no other import gets this copy.
            self._copies[name] = module
            code = spec.loader.get_code(name)
            assert code is not None
            names = _Names(vars(module), self._values.get(name, {}))
            exec(code, vars(module), names)
        return self._copies[name]

    # Any: the arguments of an import statement.
    def _import(self, name: str, *args: Any, **more: Any) -> ModuleType:
        if any(_leads_to(name, home) for home in self._values):
            return self.load(name)
        return builtins.__import__(name, *args, **more)


class _Names(MutableMapping[str, Any]):
    """The namespace of a module during execution, which overrides some values."""

    def __init__(self, names: dict[str, Any], values: Mapping[str, float]) -> None:
        self._names = names
        self._values = values

    def __setitem__(self, name: str, value: Any) -> None:
        self._names[name] = self._values.get(name, value)

    def __getitem__(self, name: str) -> Any:
        return self._names[name]

    def __delitem__(self, name: str) -> None:
        del self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _homes(module: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield each module that defines or re-exports a constant, and its name there."""
    yield module, name
    for statement in _tree(module).body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                if name == (alias.asname or alias.name) and _is_ours(statement.module):
                    yield from _homes(statement.module, alias.name)


@cache
def _leads_to(module: str, home: str) -> bool:
    """Return whether a module is `home`, or imports it directly or indirectly."""
    if module == home:
        return True
    if not _is_ours(module) or not _is_file(module):
        return False
    return any(_leads_to(imported, home) for imported in _imports(module))


def _imports(module: str) -> set[str]:
    return {
        statement.module
        for statement in _tree(module).body
        if isinstance(statement, ast.ImportFrom) and statement.module
    }


def _is_ours(module: str) -> bool:
    return module.startswith(PACKAGE)


@cache
def _is_file(module: str) -> bool:
    # Package modules, such as the list of all signals, are shared by all variants.
    return not _path_of(module).endswith("__init__.py")


@cache
def _path_of(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return spec.origin


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(Path(_path_of(module)).read_bytes())
