"""What every model that can be called offers, whether this process compiled it or loaded an engine file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from .session import Session
from .signature import TensorSpec


class Runner(Protocol):
    """One call, and how it is ended."""

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> list[np.ndarray]: ...

    def cancel(self) -> None: ...


class CallableModel:
    """A model ready to run. Call it with arrays by position, one list of arrays, or one dict by name.

    It returns a list of arrays in the model's order, which own their memory. Several threads may call it at once.
    """

    _session: Session

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape (a str or None is a dynamic dim) and dtype of each input, in order."""
        return self._session.signature.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, shape and dtype of each output, in order."""
        return self._session.signature.outputs

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """Run the model.

        `InvalidInputError` says which argument does not fit, `OutOfMemoryError` what there is no memory for; `CancelledError` tells
        that another thread has called `cancel`.
        """
        return self._session(*arguments)

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> list[np.ndarray]:
        """Run the model with results in the arrays `outputs`, in order or by name.

        They are computed there, without a copy, unless the model or an overlap with `inputs` stands against it. Results without
        an array get memory of their own. `InvalidInputError` says which array does not fit; `outputs` are undefined then.
        """
        return self._session.run(inputs, outputs)

    def on_device(self, values: np.ndarray) -> Any:
        """A copy of an array where the model computes, for calls that give it again and again: `DeviceArray` for a model on a GPU.

        For one on a CPU, the array itself. Results of a call with such an argument stay on the GPU, too.
        """
        return self._session.on_device(values)

    def run_many(self, requests: Iterable[Any]) -> list[list[np.ndarray]]:
        """The results for each of `requests`: an array, a list of arrays or a dict by name each.

        Several run at a time, each on one thread, without the GIL; fewer than there are threads run one after the other on all.
        `InvalidInputError` names the first request that is wrong, and what is wrong with it.
        """
        return self._run_numbered(requests, 0)

    def _run_numbered(self, requests: Iterable[Any], first: int) -> list[list[np.ndarray]]:
        """`run_many`, with `first` as the number of the first request in messages."""
        return self._session.run_many(requests, first)

    async def run_async(
        self, inputs: Sequence[Any] | Mapping[str, Any], outputs: Sequence[Any] | Mapping[str, Any] | None = None
    ) -> list[np.ndarray]:
        """`run` on a thread of the event loop's executor. A task that is cancelled ends its call before the next kernel."""
        import asyncio  # 7 MB, which others do without

        with self._runner() as runner:
            call = asyncio.get_running_loop().run_in_executor(None, runner.run, inputs, outputs)
            try:
                return await asyncio.shield(call)
            except asyncio.CancelledError:
                runner.cancel()
                with contextlib.suppress(Exception):  # the task is told of its cancellation alone
                    await call  # the arrays are the caller's again when this ends
                raise

    def _runner(self) -> AbstractContextManager[Runner]:
        """What one asynchronous call runs by, apart from others that it must not end."""
        return self._session.apart()

    def cancel(self) -> None:
        """End all calls of the model that run now in other threads: each raises `CancelledError` before its next kernel.

        Calls that begin later are not touched.
        """
        self._session.cancel()
