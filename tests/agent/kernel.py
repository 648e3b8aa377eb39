"""A real Jupyter kernel, whose cells are executed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Prints threads, open files and hooks of the kernel.
STATE = """
import os, signal, sys, threading
def state():
    names = sorted(t.name for t in threading.enumerate() if t.name.startswith("seamark"))
    files = len(os.listdir("/proc/self/fd"))
    return names, files, sys.excepthook, signal.getsignal(signal.SIGINT)
"""
NEEDED = ("nbclient", "nbformat", "ipykernel", "jupyter_core")


# Any: these libraries are there for tests alone, and not everywhere.
class Kernel:
    """Executes cells, and returns their output and errors."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def run(self, code: str, *, may_fail: bool = False) -> str:
        import nbformat

        cell = nbformat.v4.new_code_cell(code)
        self.client.nb.cells.append(cell)
        self.client.allow_errors = may_fail
        self.client.execute_cell(cell, len(self.client.nb.cells) - 1)
        return "".join(
            out.get("text", "") + out.get("ename", "") for out in cell.outputs
        )

    def restart(self) -> None:
        from jupyter_core.utils import run_sync

        run_sync(self.client.km.restart_kernel)(now=False)
        run_sync(self.client.kc.wait_for_ready)(timeout=60)


@contextmanager
def kernel_in(folder: Path, **environment: str) -> Iterator[Kernel]:
    """Start a kernel in a folder; `environment` in place of this process's, if given."""
    import nbclient
    import nbformat

    client = nbclient.NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=60,
        resources={"metadata": {"path": str(folder)}},
    )
    with client.setup_kernel(**({"env": environment} if environment else {})):
        yield Kernel(client)
