"""Ops on optional values, which are the value itself or None here."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlc.runtime.host.registry import HostNode, HostOpError, host_op

OPTIONALS = "optional values live on the host"


@host_op("Optional", OPTIONALS)
def optional(node: HostNode, value: Any = None) -> Any:
    """The value, or none (ONNX Optional)."""
    return value


@host_op("OptionalHasElement", OPTIONALS)
def optional_has_element(node: HostNode, value: Any = None) -> np.ndarray:
    """Whether there is a value, as a scalar of i1 (ONNX OptionalHasElement)."""
    return np.array(value is not None)


@host_op("OptionalGetElement", OPTIONALS)
def optional_get_element(node: HostNode, value: Any) -> Any:
    """The value, which there must be (ONNX OptionalGetElement)."""
    if value is None:
        raise HostOpError("the optional holds nothing; ask OptionalHasElement first")
    return value
