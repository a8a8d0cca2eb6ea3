"""The models of a server: loaded from their files, and again when these change."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import RuntimeLoadError
from ..runtime.engine import load
from .batching import batch_key, reason_against_batching
from .call import Call, Runners
from .errors import ServingError, TimedOutError, UnknownModelError
from .interface import VERSION, ModelInterface
from .metrics import Figures
from .options import ServeOptions
from .scheduler import Scheduler

LOG = logging.getLogger("dlc.serve")
SUFFIX = ".dlce"
Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Loaded:
    """A model as its file was when `stamp` was taken."""

    runners: Runners
    interface: ModelInterface
    is_batched: bool
    stamp: Stamp


class ServedModel:
    """A model under its name, whose engine can be replaced: requests keep the one that they were checked against."""

    def __init__(self, name: str, path: Path, loaded: Loaded, scheduler: Scheduler, timeout: float) -> None:
        self.name, self.path, self.loaded = name, path, loaded
        self.scheduler, self._timeout = scheduler, timeout
        self._loop = scheduler.loop  # to ask asyncio for it takes a system call

    async def infer(
        self, loaded: Loaded, inputs: list[np.ndarray], timeout: float | None = None, is_alone: bool = True
    ) -> list[np.ndarray]:
        """All outputs. `ServingError` says why there are none; a task that is cancelled drops the call."""
        if not loaded.is_batched:
            answer = self.scheduler.answer_at_once(loaded.runners, inputs, is_alone)
            if answer is not None:
                return answer
        return await self._answer(loaded, inputs, timeout)

    async def _answer(self, loaded: Loaded, inputs: list[np.ndarray], timeout: float | None) -> list[np.ndarray]:
        """From the queue, or in a batch of those that are here."""
        is_batched = loaded.is_batched and bool(rows := len(inputs[0]))
        key = batch_key(inputs) if is_batched else None
        call = Call(loaded.runners, inputs, key, rows if is_batched else 1, self._loop.create_future())
        if is_batched:
            self.scheduler.gather(call)
        else:
            self.scheduler.submit(call)
        seconds = min(timeout or self._timeout, self._timeout)
        timer = self._loop.call_later(seconds, _give_up, call, seconds)
        try:
            return await call.answer
        except (asyncio.CancelledError, TimedOutError):
            self.scheduler.abandon(call)
            raise
        finally:
            timer.cancel()


class Repository:
    """Models by name, from engine files and folders of them. `open` before use, `close` after."""

    def __init__(self, sources: Sequence[str], options: ServeOptions, metrics: Figures) -> None:
        self._options, self._metrics = options, metrics
        named, self._folders = _named_files(sources)
        self._files = dict(named)
        self.models: dict[str, ServedModel] = {}
        self._seen: dict[str, Stamp] = {}
        """Of each file when it was looked at last: one that does not load is tried again once it changes."""

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Load all models; `RuntimeLoadError` or `TargetError` of the first that fails."""
        self._loop = loop
        for name, path in {**_files_in(self._folders), **self._files}.items():
            self.models[name] = self._serve(name, path, self._load(name, path))
            self._seen[name] = self.models[name].loaded.stamp

    def find(self, name: str, version: str = "") -> ServedModel:
        """`UnknownModelError` if there is no such model or version; each has the version 1."""
        model = self.models.get(name)
        if model is None:
            raise UnknownModelError(f"no model {name[:200]!r} is served here")
        if version not in ("", VERSION):
            raise UnknownModelError(f"model '{name}' has no version {version[:200]!r}; it has {VERSION!r}")
        return model

    async def watch(self) -> None:
        """Look for changed files for ever."""
        while self._options.poll:
            await asyncio.sleep(self._options.poll)
            await self.refresh()

    async def refresh(self) -> None:
        """Load what is new or changed since the last look; a file that does not load leaves its model as it is."""
        found = await asyncio.to_thread(lambda: {**_files_in(self._folders), **self._files})
        for name, path in found.items():
            stamp = _stamp(path)
            if stamp is not None and self._seen.get(name) != stamp:
                self._seen[name] = stamp
                await self._refresh_one(name, path)
        for name in set(self.models) - set(found):
            LOG.info("model '%s': its file is gone; it is served no more", name)
            self._metrics.reloaded(name, "removed")
            self._seen.pop(name, None)
            self.models.pop(name).scheduler.close()

    async def _refresh_one(self, name: str, path: Path) -> None:
        model = self.models.get(name)
        try:
            loaded = await asyncio.to_thread(self._load, name, path)
        except Exception as error:  # whatever a file does, those that are served stay so
            LOG.error("model '%s': %s; %s", name, error, "not served" if model is None else "the one before is still served")
            self._metrics.reloaded(name, "failed")
            return
        if model is None:
            self.models[name] = self._serve(name, path, loaded)
        else:
            model.loaded = loaded
        self._metrics.reloaded(name, "loaded")
        LOG.info("model '%s': loaded from its changed file", name)

    def check_threads(self) -> None:
        """`ServingError` if the thread of a model has ended, which nothing should bring about."""
        for name, model in self.models.items():
            if not model.scheduler.is_alive:
                raise ServingError(f"the thread of model '{name}' has ended")

    def close(self) -> None:
        """Take no more calls."""
        for model in self.models.values():
            model.scheduler.close()

    def _serve(self, name: str, path: Path, loaded: Loaded) -> ServedModel:
        scheduler = Scheduler(name, self._options.batching, self._loop, self._metrics.of_model(name))
        self._metrics.watch_queue(name, lambda: scheduler.waiting)
        return ServedModel(name, path, loaded, scheduler, self._options.timeout)

    def _load(self, name: str, path: Path) -> Loaded:
        stamp = _stamp(path)
        if stamp is None:
            raise RuntimeLoadError(f"{path}: error: no such file")
        source = path.read_bytes() if self._options.in_memory else path
        engine = load(source, self._options.num_threads, verify=True, verify_key=self._options.verify_key)
        interface = ModelInterface.of(name, engine.inputs, engine.outputs)
        reason = reason_against_batching(interface, engine) if self._options.batching.max_batch > 1 else ""
        if reason:
            LOG.warning("model '%s': each request runs alone: %s", name, reason)
        return Loaded(Runners(engine, engine.with_threads(1)), interface, reason is None, stamp)


def _give_up(call: Call, seconds: float) -> None:
    if not call.answer.done():
        call.answer.set_exception(TimedOutError(f"no answer within {seconds:g} s"))


def _named_files(sources: Sequence[str]) -> tuple[list[tuple[str, Path]], list[Path]]:
    """Files with the names of their models, and folders. `NAME=FILE` gives a name, else it is the file's."""
    files: list[tuple[str, Path]] = []
    folders: list[Path] = []
    for source in sources:
        path = Path(source)
        if path.is_dir():
            folders.append(path)
            continue
        name, separator, rest = source.partition("=")
        is_named = bool(separator) and not path.exists()
        files.append((name, Path(rest)) if is_named else (path.stem, path))
    names = [name for name, _ in files] + [name for folder in folders for name in _files_in([folder])]
    for name in names:
        if not name or "/" in name:
            raise RuntimeLoadError(f"{name!r} is no name of a model; write NAME=FILE with a NAME without slashes")
        if names.count(name) > 1:
            raise RuntimeLoadError(f"two models are named '{name}'; write NAME=FILE to give one another name")
    if not names and not folders:
        raise RuntimeLoadError("no models to serve; give engine files (.dlce) or folders of them")
    return files, folders


def _files_in(folders: Sequence[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            found |= {path.stem: path for path in sorted(folder.iterdir()) if path.suffix == SUFFIX}
    return found


def _stamp(path: Path) -> Stamp | None:
    """Changes when the file does; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
