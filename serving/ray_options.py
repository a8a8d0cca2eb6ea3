"""What the Ray Serve deployment can be told, by arguments and by `user_config`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidInputError
from .options import BatchOptions, ServeOptions


@dataclass(frozen=True)
class _Kind:
    """Values of an option: a type, and the least number."""

    type: type
    text: str
    least: float = -math.inf


_COUNT = _Kind(int, "an integer of 1 or more", 1)
_SECONDS = _Kind(float, "a number of seconds, 0 or more", 0)
_KINDS = {
    "max_batch_size": _COUNT,
    "batch_wait_timeout_s": _SECONDS,
    "max_queue": _COUNT,
    "max_request_bytes": _COUNT,
    "timeout_s": _Kind(float, "a number of seconds above 0", 1e-6),
    "poll_s": _SECONDS,
    "num_threads": _COUNT,
    "verify_key": _Kind(str, "the path of a public key"),
    "in_memory": _Kind(bool, "true or false"),
}
"""The two of batches have the names that Ray Serve gives them in `serve.batch`; the others mean what `dlc serve` means by them."""
_RENAMED = {"timeout_s": "timeout", "poll_s": "poll"}
_BATCHING = {"max_batch_size": "max_batch", "batch_wait_timeout_s": "max_delay", "max_queue": "max_queue"}


def read_config(config: Mapping[str, Any], processors: Callable[[], int]) -> tuple[list[str], ServeOptions]:
    """Sources of models and options. `num_threads` is what `processors` returns where it is not told.

    `InvalidInputError` names the key that is unknown or has a wrong value.
    """
    models = config.get("models", [])
    sources = [models] if isinstance(models, str) else models
    if not isinstance(sources, (list, tuple)) or not sources or not all(isinstance(each, str) for each in sources):
        raise InvalidInputError(f"models must be engine files, NAME=FILE or folders, one or a list, not {models!r}")
    given = {key: _checked(key, value) for key, value in config.items() if key != "models" and value is not None}
    batching = {_BATCHING[key]: given.pop(key) for key in list(given) if key in _BATCHING}
    named = {_RENAMED.get(key, key): value for key, value in given.items()}
    threads = named.pop("num_threads", None) or processors()
    return list(sources), ServeOptions(batching=BatchOptions(**batching), num_threads=threads, **named)


def _checked(key: str, value: Any) -> Any:
    kind = _KINDS.get(key)
    if kind is None:
        raise InvalidInputError(f"unknown option {key!r}; there are models, {', '.join(_KINDS)}")
    is_type = type(value) is kind.type or (kind.type is float and type(value) is int)
    if not is_type or (kind.type in (int, float) and not kind.least <= value < math.inf):
        raise InvalidInputError(f"{key} must be {kind.text}, not {value!r}")
    return value
