"""What a server counts, in Prometheus' text format."""

from __future__ import annotations

import functools
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class RunFigures(Protocol):
    """Is told of every run of a model: seconds that its calls waited, seconds of the run, and its rows."""

    def ran(self, waits: Sequence[float], seconds: float, rows: int) -> None: ...


class Figures(Protocol):
    """What a server tells of its requests: `Metrics`, or that of another exporter."""

    def of_model(self, name: str) -> RunFigures: ...

    def answered(self, model: str, protocol: str, status: str, seconds: float) -> None: ...

    def reloaded(self, model: str, result: str) -> None: ...

    def watch_queue(self, model: str, waiting: Callable[[], int]) -> None: ...


class _Counts:
    """How many values fell into each bucket, and their sum. Callers hold a lock."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def samples(self) -> tuple[list[tuple[str, float]], float]:
        """Values up to each bound, and the sum of all."""
        names = [*map(floatToGoString, self._bounds), "+Inf"]
        return list(zip(names, accumulate(self._counts), strict=True)), self._sum


class _Histogram(Collector):
    """A histogram whose values cost a third of a microsecond each, a tenth of what the library's take: there are four a request."""

    def __init__(self, name: str, text: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._name, self._text, self._labels, self._bounds = name, text, labels, bounds
        self._made: dict[tuple[str, ...], _Counts] = {}

    def labels(self, *values: str) -> _Counts:
        """The counts of these labels."""
        return self._made.setdefault(values, _Counts(self._bounds))

    def collect(self) -> Iterator[Metric]:
        """For the registry."""
        family = HistogramMetricFamily(self._name, self._text, labels=self._labels)
        for values, counts in list(self._made.items()):
            family.add_metric(values, *counts.samples())
        yield family


class ModelMetrics:
    """Figures of the runs of one model."""

    def __init__(self, metrics: Metrics, name: str) -> None:
        self._lock = metrics.lock
        self._waits = metrics.waits.labels(name)
        self._runs = metrics.runs.labels(name)
        self._rows = metrics.rows.labels(name)

    def ran(self, waits: Sequence[float], seconds: float, rows: int) -> None:
        """One run: how long its requests waited, how long it took, and its rows."""
        with self._lock:
            for wait in waits:
                self._waits.add(wait)
            self._runs.add(seconds)
            self._rows.add(rows)


class Metrics:
    """Counters and histograms of one server. The label `model` is empty for requests of unknown models."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """For who adds values: threads of models and that of the event loop."""
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "dlc_requests", "answered inference requests", ("model", "protocol", "status"), registry=self._registry
        )
        self._seconds = self._histogram("dlc_request_seconds", "from the arrival to the answer", ("model", "protocol"))
        self.waits = self._histogram("dlc_wait_seconds", "from the arrival in the queue to the run")
        self.runs = self._histogram("dlc_run_seconds", "of one call of the model, of a batch or of a single request")
        self.rows = self._histogram("dlc_run_rows", "rows of one call of the model; 1 where it is not batched", bounds=ROWS)
        self._waiting = Gauge("dlc_waiting_requests", "requests in the queue", ("model",), registry=self._registry)
        self._reloads = Counter("dlc_reloads", "changed files of models", ("model", "result"), registry=self._registry)

    def _histogram(self, name: str, text: str, labels: Sequence[str] = ("model",), bounds: Sequence[float] = SECONDS) -> _Histogram:
        made = _Histogram(name, text, labels, bounds)
        self._registry.register(made)
        return made

    def of_model(self, name: str) -> ModelMetrics:
        """What is told of the runs of the model `name`."""
        return ModelMetrics(self, name)

    @functools.lru_cache(maxsize=1024)  # noqa: B019  # a server has one object, for as long as it lives
    def _of(self, model: str, protocol: str, status: str) -> tuple[Counter, _Counts]:
        return self._requests.labels(model, protocol, status), self._seconds.labels(model, protocol)

    def answered(self, model: str, protocol: str, status: str, seconds: float) -> None:
        """One inference request; `status` is `ok`, or the gRPC code of its error."""
        count, histogram = self._of(model, protocol, status)
        count.inc()
        with self.lock:
            histogram.add(seconds)

    def reloaded(self, model: str, result: str) -> None:
        """A changed file: `loaded`, `failed` or `removed`."""
        self._reloads.labels(model, result).inc()

    def watch_queue(self, model: str, waiting: Callable[[], int]) -> None:
        """Let the gauge of `model` show what `waiting` returns."""
        self._waiting.labels(model).set_function(waiting)

    def text(self) -> bytes:
        """All figures."""
        return generate_latest(self._registry)
