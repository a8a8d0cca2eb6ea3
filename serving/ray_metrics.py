"""What a replica counts, by Ray's metrics: Ray exports those of all replicas, with deployment and replica as tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ray.serve.metrics import Counter, Gauge, Histogram

from .metrics import ROWS, SECONDS


class RayModelMetrics:
    """Figures of the runs of one model."""

    def __init__(self, metrics: RayMetrics, name: str) -> None:
        self._metrics, self._tags = metrics, {"model": name}

    def ran(self, waits: Sequence[float], seconds: float, rows: int) -> None:
        """One run: how long its requests waited, how long it took, and its rows."""
        for wait in waits:
            self._metrics.waits.observe(wait, self._tags)
        self._metrics.runs.observe(seconds, self._tags)
        self._metrics.rows.observe(rows, self._tags)
        self._metrics.note_queue(self._tags)


class RayMetrics:
    """The figures of `Metrics`, under the same names."""

    def __init__(self) -> None:
        self._requests = Counter("dlc_requests", "answered inference requests", ("model", "protocol", "status"))
        self._seconds = Histogram("dlc_request_seconds", "from the arrival to the answer", SECONDS, ("model", "protocol"))
        self.waits = Histogram("dlc_wait_seconds", "from the arrival in the queue to the run", SECONDS, ("model",))
        self.runs = Histogram("dlc_run_seconds", "of one call of the model, or of a batch", SECONDS, ("model",))
        self.rows = Histogram("dlc_run_rows", "rows of one run", list(map(float, ROWS)), ("model",))
        self._waiting = Gauge("dlc_waiting_requests", "requests in the queue, after the last run", ("model",))
        self._reloads = Counter("dlc_reloads", "changed files of models", ("model", "result"))
        self._queues: dict[str, Callable[[], int]] = {}

    def of_model(self, name: str) -> RayModelMetrics:
        """What is told of the runs of the model `name`."""
        return RayModelMetrics(self, name)

    def answered(self, model: str, protocol: str, status: str, seconds: float) -> None:
        """One inference request; `status` is `ok`, or the gRPC code of its error."""
        self._requests.inc(1, {"model": model, "protocol": protocol, "status": status})
        self._seconds.observe(seconds, {"model": model, "protocol": protocol})

    def reloaded(self, model: str, result: str) -> None:
        """A changed file: `loaded`, `failed` or `removed`."""
        self._reloads.inc(1, {"model": model, "result": result})

    def watch_queue(self, model: str, waiting: Callable[[], int]) -> None:
        """Let the gauge of `model` show what `waiting` returns."""
        self._queues[model] = waiting

    def note_queue(self, tags: dict[str, str]) -> None:
        """Set the gauge of the model in `tags`."""
        self._waiting.set(self._queues[tags["model"]](), tags)
