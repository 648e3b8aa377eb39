"""Locates a process's control groups, version 1 and 2."""

from __future__ import annotations

from pathlib import Path

from seamark.probes.files import read_text

ROOT = Path("/sys/fs/cgroup")
PROCESSES = Path("/proc")
UNIFIED = ""  # the controller's name in version 2


class Groups:
    """The groups of one process, each with its visible parents."""

    def __init__(
        self,
        watched: int | None = None,
        *,
        root: Path = ROOT,
        processes: Path = PROCESSES,
    ) -> None:
        """`watched` is the process; by default this one."""
        found = _find(root, processes / str(watched or "self") / "cgroup")
        # If both are mounted, version 2 has no controllers and no limits.
        self.is_unified = (root / "cgroup.controllers").exists()
        self._groups = {
            name: group
            for name, group in found.items()
            if (name == UNIFIED) == self.is_unified
        }

    def __bool__(self) -> bool:
        return bool(self._groups)

    def of(self, controller: str) -> Path | None:
        """Return the folder of the innermost group."""
        groups = self.with_ancestors(controller)
        return groups[0] if groups else None

    def with_ancestors(self, controller: str) -> list[Path]:
        """Return the folders from the innermost group to the outermost visible one."""
        found = self._groups.get(UNIFIED if self.is_unified else controller)
        if found is None:
            return []
        top, group = found
        inner = [group, *group.parents]
        return inner[: inner.index(top) + 1]


def _find(root: Path, membership: Path) -> dict[str, tuple[Path, Path]]:
    """Return the root of the tree and the process's group, by controller."""
    groups: dict[str, tuple[Path, Path]] = {}
    for line in read_text(membership).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            top = root / controller
            group = top / path.lstrip("/")
            # In a container the path may be the host's; then the visible root is used.
            if ".." in path or not group.is_dir():
                group = top
            if top.is_dir():
                groups[controller] = (top, group)
    return groups
