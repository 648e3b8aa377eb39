"""Aim without a server: each process writes its repository."""

from __future__ import annotations

from benchmarks.logging.client import PROJECT, Client, Metrics


class Aim(Client):
    package = "aim"
    writing = (
        "`Run.track` with all metrics of a step, into its repository; indexed later"
    )

    def load(self) -> None:
        import aim  # type: ignore[import-not-found]  # noqa: PLC0415

        self._aim = aim

    def open(self, run: str) -> None:
        self._run = self._aim.Run(
            repo=str(self.folder),
            experiment=PROJECT,
            system_tracking_interval=None,
            capture_terminal_logs=False,
        )
        self._run.name = run
        self.log = self._log

    def close(self) -> None:
        self._run.close()

    def _log(self, metrics: Metrics, step: int) -> None:
        self._run.track(metrics, step=step)


CLIENT = Aim
