"""Importers of ops that make features: scaled, normalised, replaced, chosen, joined and encoded numbers."""

from __future__ import annotations

import math

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.ml.inputs import DOMAIN, as_dtype, numbers, refuse_strings
from dlc.frontends.onnx.ml.tree_tables import WalkTables
from dlc.frontends.onnx.node import NodeContext


@importer("Scaler", domain=DOMAIN)
def import_scaler(node: NodeContext) -> ir.Value:
    """(x - offset) * scale as f32; each list has one number, or one a feature."""
    x = numbers(node)
    dtype = type_of_value(x).dtype
    for name, apply in (("offset", dl.sub), ("scale", dl.mul)):
        if node.attribute(name):
            x = apply(x, node.constant_value(_per_feature(node, name), dtype))
    return as_dtype(x, "f32")


def _per_feature(node: NodeContext, name: str) -> np.ndarray:
    """A list of one number, or of one a feature."""
    values, features = np.asarray(node.attribute(name)), node.type(0).shape[-1:]
    if values.size != 1 and isinstance(features[0] if features else 1, int) and (values.size,) != features:
        node.unsupported(f"{name} has {values.size} numbers, but its input is {node.type(0)}")
    return values


@importer("Normalizer", domain=DOMAIN)
def import_normalizer(node: NodeContext) -> ir.Value:
    """Rows over their largest number (MAX), sum of magnitudes (L1) or Euclidean norm (L2); rows for which that is 0 stay."""
    x, norm = as_dtype(node.value(0), "f32"), node.attribute("norm", "MAX")
    if type_of_value(x).rank not in (1, 2):
        node.unsupported(f"its input is {node.type(0)}, but must be a list or a matrix")
    if norm == "MAX":
        size = dl.reduce_max(x, axes=[-1], keepdims=True)
    elif norm == "L1":
        size = dl.reduce_sum(dl.abs(x), axes=[-1], keepdims=True)
    elif norm == "L2":
        size = dl.sqrt(dl.reduce_sum(dl.mul(x, x), axes=[-1], keepdims=True))
    else:
        node.unsupported(f"norm {norm} is not one of MAX, L1, L2")
    zero, one = (node.constant_value(value, "f32") for value in (0.0, 1.0))
    return dl.div(x, dl.where(dl.equal(size, zero), one, size))


@importer("Binarizer", domain=DOMAIN)
def import_binarizer(node: NodeContext) -> ir.Value:
    """1 where a number is greater than the threshold, else 0."""
    x = numbers(node)
    threshold = node.constant_value(node.attribute("threshold", 0.0), type_of_value(x).dtype)
    return dl.cast(dl.less(threshold, x), to=node.type(0).dtype)


@importer("Imputer", domain=DOMAIN)
def import_imputer(node: NodeContext) -> ir.Value:
    """Numbers that stand for missing ones (NaN, or a value) replaced, by one number for all features or one for each."""
    x, dtype = node.value(0), node.type(0).dtype
    kind = "floats" if dtype in FLOATS else "int64s"
    if not node.attribute(f"imputed_value_{kind}"):
        node.unsupported(f"an input of {dtype} needs imputed_value_{kind}")
    known = node.attribute(f"replaced_value_{kind.removesuffix('s')}", 0)
    new = node.constant_value(_per_feature(node, f"imputed_value_{kind}"), dtype)
    is_missing = dl.isnan(x) if np.isnan(known) else dl.equal(x, node.constant_value(known, dtype))
    return dl.where(is_missing, new, x)


@importer("ArrayFeatureExtractor", domain=DOMAIN)
def import_array_feature_extractor(node: NodeContext) -> ir.Value:
    """Elements of the last axis at given places; a list gives one row."""
    x = node.value(0)
    found = dl.gather(x, dl.reshape(node.value(1), shape=[-1]), axis=-1)
    return dl.unsqueeze(found, axes=[0]) if type_of_value(x).rank == 1 else found


@importer("FeatureVectorizer", domain=DOMAIN)
def import_feature_vectorizer(node: NodeContext) -> ir.Value:
    """The inputs' features side by side as f32, cut or filled with zeros to the sizes given; a list is one row."""
    sizes = node.attribute("inputdimensions") or [None] * node.num_inputs
    if len(sizes) != node.num_inputs:
        node.unsupported(f"inputdimensions has {len(sizes)} sizes for {node.num_inputs} inputs")
    if any(size is not None and size < 0 for size in sizes):
        node.unsupported(f"inputdimensions has {min(sizes)}, which is no size; give sizes from 0 on")
    parts = [_sized(node, index, size) for index, size in enumerate(sizes)]
    whole = parts[0]
    for part in parts[1:]:
        whole = dl.concat(whole, part, axis=1)
    return whole


def _sized(node: NodeContext, index: int, size: int | None) -> ir.Value:
    """Input `index` as f32 [rows, size]."""
    x = as_dtype(node.value(index), "f32")
    if type_of_value(x).rank not in (1, 2):
        node.unsupported(f"input {index} is {node.type(index)}, but must be a list or a matrix")
    x = dl.unsqueeze(x, axes=[0]) if type_of_value(x).rank == 1 else x
    have = type_of_value(x).shape[1]
    if size is None or have == size:
        return x
    if not isinstance(have, int):
        node.unsupported(f"the number of features of input {index} must be known at compile time")
    if size < have:
        return dl.slice(x, starts=[0], ends=[size], axes=[1], steps=[1])
    return dl.pad(x, node.constant_value(0.0, "f32"), low=[0, 0], high=[0, size - have])


@importer("OneHotEncoder", domain=DOMAIN)
def import_one_hot_encoder(node: NodeContext) -> ir.Value:
    """1 at the place of each number's category, along a new last axis; numbers of no category give zeros, or an error."""
    refuse_strings(node, "cats_strings")
    categories = np.asarray(node.attribute("cats_int64s") or [], np.int64)
    if not categories.size:
        node.unsupported("it needs categories (cats_int64s)")
    x = as_dtype(node.value(0), "i64")
    is_hit = dl.equal(
        dl.unsqueeze(x, axes=[type_of_value(x).rank]), node.new_param(categories, f"{node.node.output[0]}_categories")
    )
    found = dl.cast(is_hit, to="f32")
    if node.attribute("zeros", 1):
        return found
    known = dl.reduce_max(dl.cast(is_hit, to="i32"), axes=[-1])
    return getattr(dl, "assert")(found, dl.cast(known, to="i1"), message="a number is of no category (cats_int64s)")


@importer("LabelEncoder", domain=DOMAIN)
def import_label_encoder(node: NodeContext) -> ir.Value:
    """Numbers for numbers: keys are found by halving the sorted list of them, as decisions of a tree are."""
    refuse_strings(node, "keys_strings", "values_strings", "classes_strings")
    keys, values = _table(node, "keys"), _table(node, "values")
    if not len(keys) or len(keys) != len(values):
        node.unsupported(f"there are {len(keys)} keys for {len(values)} values")
    default = _default(node, values.dtype)
    last = {(float(key) if keys.dtype.kind == "f" else int(key)): at for at, key in enumerate(keys)}  # later ones count
    missing = [at for at, key in enumerate(keys) if key != key]
    places = np.array(sorted(at for key, at in last.items() if key == key), np.int64)
    order = places[np.argsort(keys[places], kind="stable")]
    x = node.value(0)
    found = _looked_up(node, x, keys[order], values[order], default)
    if missing and type_of_value(x).dtype in FLOATS:
        found = dl.where(dl.isnan(x), node.constant_value(values[missing[-1]]), found)
    return found


def _table(node: NodeContext, name: str) -> np.ndarray:
    """The keys or values, whichever attribute holds them."""
    tensor = node.attribute(f"{name}_tensor")
    given = [kind for kind in ("int64s", "floats", "tensor") if np.size(node.attribute(f"{name}_{kind}", []))]
    if len(given) > 1:
        node.unsupported(f"{' and '.join(f'{name}_{kind}' for kind in given)} are given; give one of them")
    for kind, dtype in (("int64s", np.int64), ("floats", np.float32)):
        if node.attribute(f"{name}_{kind}"):
            return np.asarray(node.attribute(f"{name}_{kind}"), dtype)
    if tensor is None or np.asarray(tensor).dtype not in NUMPY_DTYPES.values():
        node.unsupported(f"{name} must be integers or floats; encode texts before the model")
    return np.asarray(tensor).reshape(-1)


def _default(node: NodeContext, dtype: np.dtype) -> np.ndarray:
    """What stands for numbers that are no key."""
    tensor = node.attribute("default_tensor")
    if tensor is not None:
        if np.size(tensor) != 1:
            node.unsupported(f"default_tensor has {np.size(tensor)} elements; give it one")
        return np.asarray(tensor).reshape(-1)[0].astype(dtype)
    given = node.attribute("default_float", -0.0) if dtype.kind == "f" else node.attribute("default_int64", -1)
    return np.asarray(given, dtype)


def _looked_up(node: NodeContext, x: ir.Value, keys: np.ndarray, values: np.ndarray, default: np.ndarray) -> ir.Value:
    """values[i] where x is keys[i], which are sorted, else `default`."""
    dtype = type_of_value(x).dtype
    if dtype not in ("f32", "f64") and np.abs(keys.astype(np.float64)).max(initial=0) >= 2**53:
        node.unsupported("keys of 2^53 and more in magnitude are not supported")
    kind = dtype if dtype in ("f32", "f64") else "f64"
    place = _place_among(node, as_dtype(x, kind), keys.astype(NUMPY_DTYPES[kind]))
    known = node.new_param(keys.astype(NUMPY_DTYPES[dtype]), f"{node.node.output[0]}_keys")
    wanted = node.new_param(values, f"{node.node.output[0]}_values")
    is_key = dl.equal(dl.gather(known, place, axis=0), x)
    return dl.where(is_key, dl.gather(wanted, place, axis=0), node.constant_value(default))


def _place_among(node: NodeContext, x: ir.Value, keys: np.ndarray) -> ir.Value:
    """The place of the first of sorted `keys` that is not less than each number of x, or of the last one: i32, in x's shape.

    The keys are a complete tree. Of the nodes below one, the first is for numbers above its split: the places run backwards.
    """
    levels = max(1, math.ceil(math.log2(len(keys))))
    inner, width = (1 << levels) - 1, 1 << levels
    padded = np.concatenate([keys, np.full(width - len(keys), np.inf, keys.dtype)])
    first, split = np.zeros(inner + width, np.int32), np.full(inner + width, np.nan, keys.dtype)
    for level in range(levels):
        at, half = np.arange((1 << level) - 1, (2 << level) - 1), width >> (level + 1)
        first[2 * at + 1], first[2 * at + 2] = first[at] + half, first[at]
        split[at] = padded[first[at] + half - 1]
    below = np.arange(inner + width)
    below[:inner] = 2 * below[:inner] + 1
    shape, rank = dl.shape_of(x), type_of_value(x).rank
    tables = WalkTables(np.zeros(inner + width, np.int32), split, below, np.zeros(1, np.int32), levels)
    leaves = dl.reshape(tables.walk(node, dl.reshape(x, shape=[-1, 1])), shape, shape=[-1] * rank)
    places = node.new_param(np.minimum(first, len(keys) - 1), f"{node.node.output[0]}_places")
    return dl.gather(places, leaves, axis=0)
