"""Objects by key: those of this process in memory, those of all processes on disk."""

from __future__ import annotations

import threading
from collections import OrderedDict

from dlc.targets.disk_cache import DiskCache

_MEMORY_LIMIT = 128 << 20


class _Memory:
    """The objects that were used last in this process. Threads share it."""

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._objects: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            if key in self._objects:
                self._objects.move_to_end(key)
            return self._objects.get(key)

    def put(self, key: str, content: bytes) -> None:
        with self._lock:
            self._size += len(content) - len(self._objects.pop(key, b""))
            self._objects[key] = content
            while self._size > self._limit:
                self._size -= len(self._objects.popitem(last=False)[1])


_MEMORY = _Memory(_MEMORY_LIMIT)


class ObjectStore:
    """Where compiled units are kept: in memory, and in `disk` unless it is None."""

    def __init__(self, disk: DiskCache | None) -> None:
        self._disk = disk

    def get(self, key: str) -> bytes | None:
        """The object of a unit, if it was compiled before."""
        found = _MEMORY.get(key)
        if found is None and self._disk is not None:
            found = self._disk.get(key)
            if found is not None:
                _MEMORY.put(key, found)
        return found

    def put(self, key: str, content: bytes) -> None:
        """Keep the object of a unit."""
        _MEMORY.put(key, content)
        if self._disk is not None:
            self._disk.put(key, content)
