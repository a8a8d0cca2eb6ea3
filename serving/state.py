"""What the servers of both protocols share."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from .. import __version__
from .errors import ServingError, error_of_call
from .metrics import Figures
from .options import ServeOptions
from .repository import LOG, Repository

SERVER_METADATA = {"name": "dlc", "version": __version__, "extensions": ["binary_tensor_data"]}


@dataclass
class ServerState:
    """Models, options and figures of one server, and whether it takes requests."""

    options: ServeOptions
    repository: Repository
    metrics: Figures
    is_ready: bool = False
    active: int = 0
    """Inference requests that are being answered."""

    @contextlib.contextmanager
    def answering(self, protocol: str, model: str, since: float | None = None) -> Iterator[None]:
        """Count the inference request that the block answers, which began at `since`, or now."""
        begin, status = time.perf_counter() if since is None else since, "ok"
        self.active += 1
        try:
            yield
        except asyncio.CancelledError:
            status = "CANCELLED"
            raise
        except Exception as raised:
            error = error_of_call(raised)
            status = error.grpc_code
            if type(error) is ServingError:
                LOG.error("model '%s': %s", model, error)
            raise error from None
        finally:
            self.active -= 1
            known = model if model in self.repository.models else ""
            self.metrics.answered(known, protocol, status, time.perf_counter() - begin)
