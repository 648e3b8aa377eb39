"""Loads a rule once more, with other limits.

Limits are constants of a rule's module, or of a module that it shares with others. So
a rule under other limits is its own copy of these modules, with a line after each that
sets one. Modules that do not lead to such a constant stay the ones that all rules use.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

PACKAGE = "tracker.diagnosis."
MOST_VARIANTS = 1024

# Name of a module → constants of it and their values.
Values = Mapping[str, Mapping[str, float]]


def load_variant(module: str, constants: Mapping[str, float]) -> ModuleType:
    """Return a module of its own, in which these constants have other values."""
    values: dict[str, dict[str, float]] = {module: {}}
    for name, value in constants.items():
        for home, original in _homes(module, name):
            values.setdefault(home, {})[original] = value
    return _Variant(values).load(module)


class _Variant:
    """The copies of one variant, which know each other and nobody else."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._copies: dict[str, ModuleType] = {}

    def load(self, name: str) -> ModuleType:
        if name not in self._copies:
            spec = spec_from_loader(name, self._loader(name))
            assert isinstance(spec, ModuleSpec)
            assert spec.loader is not None
            module = module_from_spec(spec)
            vars(module)["__builtins__"] = {
                **vars(builtins),
                "__import__": self._import,
            }
            # Not among the modules of the process: nobody else gets it.
            self._copies[name] = module
            spec.loader.exec_module(module)
        return self._copies[name]

    def _loader(self, name: str) -> SourceFileLoader:
        return _Loader(name, _path_of(name), self._values.get(name, {}))

    # Any: whatever a statement of import says.
    def _import(self, name: str, *args: Any, **more: Any) -> ModuleType:
        if any(_leads_to(name, home) for home in self._values):
            return self.load(name)
        return builtins.__import__(name, *args, **more)


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, values: Mapping[str, float]) -> None:
        super().__init__(name, path)
        self._set = values

    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(Path(self.get_filename(fullname)).read_bytes())
        body: list[ast.stmt] = []
        for statement in tree.body:
            body.append(statement)
            body += [
                _assignment(name, self._set[name], statement)
                for name in _bound(statement)
                if name in self._set
            ]
        tree.body = body
        return compile(tree, self.path, "exec", dont_inherit=True)


def _assignment(name: str, value: float, after: ast.stmt) -> ast.stmt:
    target = ast.Name(name, ast.Store())
    made = ast.Assign([target], ast.Constant(value))
    return ast.fix_missing_locations(ast.copy_location(made, after))


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module gives a value."""
    if isinstance(statement, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                yield node.id


def _homes(module: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield each module through which a constant comes here, and its name there."""
    yield module, name
    for statement in _tree(module).body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                if name == (alias.asname or alias.name) and _is_ours(statement.module):
                    yield from _homes(statement.module, alias.name)


@cache
def _leads_to(module: str, home: str) -> bool:
    """Whether a module is that one, or imports it, or what imports it."""
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
    # Lists, such as that of all signals, are the same for everybody.
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
