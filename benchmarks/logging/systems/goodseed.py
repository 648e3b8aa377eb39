"""GoodSeed, which writes one SQLite file per run."""

from __future__ import annotations

from benchmarks.logging.client import PROJECT, Client


class GoodSeed(Client):
    package = "goodseed"
    writing = "`Run.log_metrics`, one commit each, into a SQLite file per run"

    def load(self) -> None:
        import goodseed  # type: ignore[import-not-found]  # noqa: PLC0415

        self._goodseed = goodseed

    def open(self, run: str) -> None:
        self._run = self._goodseed.Run(
            project=PROJECT,
            run_id=run,
            goodseed_home=self.folder,
            storage="local",
            capture_hardware_metrics=False,
            capture_stdout=False,
            capture_stderr=False,
            capture_traceback=False,
            git_ref=False,
        )
        self.log = self._run.log_metrics

    def close(self) -> None:
        self._run.close()


CLIENT = GoodSeed
