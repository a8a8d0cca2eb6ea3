"""What stands around ops that compiled code computes of other values: the parts of complex numbers, and places of strings.

`dlc/hosting/decomposition.py` makes nodes of the domain "dlc" of them.
"""

from __future__ import annotations

import numpy as np

from dlc.dtypes import NUMPY_DTYPES
from dlc.runtime.host.registry import HostNode, HostOpError, host_op
from dlc.runtime.host.strings import string_array

DOMAIN = "dlc"
_COMPLEX = "complex numbers are compiled as their parts"
_PLACES = "strings are moved by compiled code as their places"
_WHOLE = {"f32": np.complex64, "f64": np.complex128}


@host_op("Real", _COMPLEX, domain=DOMAIN)
def real(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The real parts, as f32 of complex64 and f64 of complex128."""
    return np.array(x.real, order="C")


@host_op("Imaginary", _COMPLEX, domain=DOMAIN)
def imaginary(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The imaginary parts."""
    return np.array(x.imag, order="C")


@host_op("Complex", _COMPLEX, domain=DOMAIN)
def join(node: HostNode, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The complex numbers of two parts."""
    found: np.ndarray = np.empty(x.shape, _WHOLE["f32" if x.dtype == NUMPY_DTYPES["f32"] else "f64"])
    found.real, found.imag = x, y
    return found


@host_op("Places", _PLACES, domain=DOMAIN)
def places(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The number of each element from 1 on, as i64."""
    return np.arange(1, x.size + 1, dtype=np.int64).reshape(x.shape)


@host_op("Pick", _PLACES, domain=DOMAIN)
def pick(node: HostNode, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The strings that have these numbers, "" for 0."""
    known = np.concatenate([string_array([""]), x.reshape(-1)])
    return known[numbers]


@host_op("BitCast", _COMPLEX, always=False)
def bit_cast(node: HostNode, x: np.ndarray) -> np.ndarray:
    """The bits of complex numbers as others of their width, or the other way (ONNX BitCast)."""
    to = node.get("to")
    if to in (None, "string") or x.dtype == object:
        raise HostOpError("strings have no bits; give numbers")
    dtype = np.dtype(NUMPY_DTYPES.get(to, to))
    if dtype.itemsize != x.dtype.itemsize:
        raise HostOpError(f"{x.dtype} has {x.dtype.itemsize} bytes but {to} has {dtype.itemsize}; give a type of the same width")
    return np.asarray(x, order="C").reshape(-1).view(dtype).reshape(x.shape)
