"""Ops of ai.onnx.ml that make features, against onnxruntime, the reference evaluator or NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_check import check_backend_cases, compare
from reference_session import reference_session

import dlc

_ML = "ai.onnx.ml"
_GENERATOR = np.random.default_rng(4)


def _floats(*shape: int) -> np.ndarray:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


def _model(op: str, feeds: dict[str, np.ndarray], kind: int, opset: int = 3, **attributes: Any) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), [None, *array.shape[1:]])
        for name, array in feeds.items()
    ]
    node = helper.make_node(op, list(feeds), ["y"], domain=_ML, **attributes)
    graph = helper.make_graph([node], "features", inputs, [helper.make_tensor_value_info("y", kind, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(_ML, opset)], ir_version=10)


def _run(op: str, feeds: dict[str, np.ndarray], kind: int = TensorProto.FLOAT, **attributes: Any) -> np.ndarray:
    return np.asarray(dlc.compile(_model(op, feeds, kind, **attributes))(feeds)[0])


def _check(op: str, feeds: dict[str, np.ndarray], kind: int = TensorProto.FLOAT, **attributes: Any) -> None:
    model = _model(op, feeds, kind, **attributes)
    session = reference_session(model)
    compare(dlc.compile(model)(feeds)[0], session.run(None, feeds)[0], op)


def test_package() -> None:
    assert [check_backend_cases(op) for op in ("ArrayFeatureExtractor", "Binarizer")] == [1, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_scaler(dtype: Any) -> None:
    x = (_floats(5, 3) * 4).astype(dtype)
    _check("Scaler", {"x": x}, offset=[0.5, -1.0, 2.0], scale=[2.0, 0.1, -3.0])
    _check("Scaler", {"x": x}, offset=[0.5], scale=[2.0])


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_normalizer(norm: str, dtype: Any) -> None:
    x = (_floats(6, 4) * 4).astype(dtype)
    x[2] = 0
    _check("Normalizer", {"x": x}, norm=norm)


def test_binarizer() -> None:
    _check("Binarizer", {"x": _floats(4, 3)}, threshold=0.25)
    x = np.arange(-3, 3).astype(np.int64)
    np.testing.assert_array_equal(_run("Binarizer", {"x": x}, TensorProto.INT64, threshold=0.5), (x > 0.5).astype(np.int64))


def test_imputer() -> None:
    x = _floats(4, 3)
    x[1, 1] = x[2, 0] = np.nan
    _check("Imputer", {"x": x}, replaced_value_float=np.nan, imputed_value_floats=[1.0, 2.0, 3.0])
    _check("Imputer", {"x": x}, replaced_value_float=float(x[0, 0]), imputed_value_floats=[7.0])
    whole = _GENERATOR.integers(-1, 2, (4, 3))
    _check("Imputer", {"x": whole}, TensorProto.INT64, replaced_value_int64=-1, imputed_value_int64s=[9, 8, 7])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_array_feature_extractor(dtype: Any) -> None:
    kind, places = helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), np.array([3, 0, 3], np.int64)
    _check("ArrayFeatureExtractor", {"x": (_floats(5, 4) * 9).astype(dtype), "at": places}, kind)
    _check("ArrayFeatureExtractor", {"x": (_floats(4) * 9).astype(dtype), "at": places}, kind)


def test_feature_vectorizer() -> None:
    feeds = {"a": _floats(3, 2), "b": np.arange(9, dtype=np.int64).reshape(3, 3), "c": _floats(3, 1).astype(np.float64)}
    want = np.concatenate([array.astype(np.float32) for array in feeds.values()], 1)
    np.testing.assert_array_equal(_run("FeatureVectorizer", feeds, inputdimensions=[2, 3, 1]), want)
    cut = _run("FeatureVectorizer", feeds, inputdimensions=[1, 5, 1])
    np.testing.assert_array_equal(cut, np.concatenate([want[:, :1], want[:, 2:5], np.zeros((3, 2)), want[:, 5:]], 1))


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_one_hot_encoder(dtype: Any) -> None:
    x = np.array([[3, -7], [12, 3]], dtype)
    _check("OneHotEncoder", {"x": x}, cats_int64s=[-7, 3, 5], zeros=1)
    _check("OneHotEncoder", {"x": x[:1]}, cats_int64s=[-7, 3, 5], zeros=0)
    with pytest.raises(dlc.InvalidInputError, match="a number is of no category"):
        _run("OneHotEncoder", {"x": x}, cats_int64s=[-7, 3, 5], zeros=0)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("count", [1, 2, 7, 100])
@pytest.mark.parametrize("shape", [(40,), (8, 5)])
def test_label_encoder(count: int, shape: tuple[int, ...]) -> None:
    keys = _GENERATOR.permutation(np.arange(count) * 3 - 40)
    whole = _GENERATOR.integers(-50, 3 * count, shape)
    values = _GENERATOR.standard_normal(count).astype(np.float32)
    _check("LabelEncoder", {"x": whole}, keys_int64s=keys.tolist(), values_floats=values.tolist(), default_float=0.5)
    _check("LabelEncoder", {"x": whole}, TensorProto.INT64, keys_int64s=keys.tolist(), values_int64s=keys[::-1].tolist())
    x = whole.astype(np.float32) / 4
    _check("LabelEncoder", {"x": x}, TensorProto.INT64, keys_floats=(keys / 4).tolist(), values_int64s=keys.tolist())


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.float32, np.float64])
def test_label_encoder_of_tensors(dtype: Any) -> None:
    """The last of two equal keys counts, and NaN is a key of its own."""
    keys = np.array([4, 1, 9, 1], dtype)
    x = np.array([1, 4, 5, 9, 0, 1], dtype)
    want = np.array([40, 10, -7, 30, -7, 40], np.float32)
    if np.dtype(dtype).kind == "f":
        keys, x, want = np.append(keys, dtype(np.nan)), np.append(x, dtype(np.nan)), np.append(want, np.float32(50))
    tables = {
        "keys_tensor": keys,
        "values_tensor": np.arange(10, 10 * len(keys) + 10, 10).astype(np.float32),
        "default_tensor": np.array([-7], np.float32),
    }
    given = {name: numpy_helper.from_array(array, name) for name, array in tables.items()}
    np.testing.assert_array_equal(_run("LabelEncoder", {"x": x}, opset=4, **given), want)


@pytest.mark.parametrize(
    ("op", "attributes", "message"),
    [
        ("LabelEncoder", {"keys_int64s": [1], "values_strings": ["a"]}, "texts \\(values_strings\\) are not supported"),
        ("LabelEncoder", {"keys_int64s": [1, 2], "values_int64s": [1]}, "there are 2 keys for 1 values"),
        ("LabelEncoder", {"keys_int64s": [1 << 60], "values_int64s": [1]}, "keys of 2\\^53 and more"),
        ("OneHotEncoder", {"cats_strings": ["a"]}, "texts \\(cats_strings\\)"),
        ("OneHotEncoder", {}, "it needs categories"),
        ("Normalizer", {"norm": "L3"}, "norm L3 is not one of MAX, L1, L2"),
        ("Imputer", {"imputed_value_floats": [1.0]}, "an input of i64 needs imputed_value_int64s"),
        ("Scaler", {"offset": [1.0, 2.0]}, "offset has 2 numbers"),
        ("FeatureVectorizer", {"inputdimensions": [1, 2]}, "inputdimensions has 2 sizes for 1 inputs"),
        ("FeatureVectorizer", {"inputdimensions": [-1]}, "inputdimensions has -1, which is no size"),
        ("LabelEncoder", {"keys_int64s": [1], "keys_floats": [2.0], "values_int64s": [1]}, "keys_int64s and keys_floats are given"),
    ],
)
def test_refused(op: str, attributes: dict[str, Any], message: str) -> None:
    kind = TensorProto.INT64 if op in ("LabelEncoder", "Imputer") else TensorProto.FLOAT
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.compile(_model(op, {"x": np.ones((2, 3), np.int64)}, kind, **attributes))


def test_default_of_two_elements_is_refused() -> None:
    two = numpy_helper.from_array(np.zeros(2, np.int64), "default_tensor")
    model = _model(
        "LabelEncoder", {"x": np.ones(3, np.int64)}, TensorProto.INT64, 4, keys_int64s=[1], values_int64s=[1], default_tensor=two
    )
    with pytest.raises(dlc.UnsupportedError, match="default_tensor has 2 elements; give it one"):
        dlc.compile(model)


def test_reference_evaluator() -> None:
    """Of what onnxruntime does otherwise: NaN among floats of f64."""
    x = _floats(4, 3).astype(np.float64)
    x[1, 1] = np.nan
    model = _model("Imputer", {"x": x}, TensorProto.DOUBLE, replaced_value_float=np.nan, imputed_value_floats=[1.0, 2.0, 3.0])
    compare(dlc.compile(model)({"x": x})[0], ReferenceEvaluator(model).run(None, {"x": x})[0], "y")
