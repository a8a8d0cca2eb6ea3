"""Heads of requests are read once and kept: what lies behind them is another request's own."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dlc.runtime.signature import TensorSpec
from dlc.serving import grpc_codec, http_codec
from dlc.serving.errors import InvalidRequestError
from dlc.serving.grpc_messages import CLASSES
from dlc.serving.interface import ModelInterface
from dlc.serving.request import LONGEST_KEPT, InferRequest


def interface(name: str = "m", width: int = 2, donated: bool = False) -> ModelInterface:
    inputs = [TensorSpec("x", ("n", width), "f32", donated), TensorSpec("y", ("n",), "i32")]
    return ModelInterface.of(name, inputs, [TensorSpec("z", ("n", 2), "f32")])


def http_request(x: np.ndarray, y: np.ndarray, **more: object) -> tuple[bytes, str]:
    """`x` in binary, `y` in JSON; body and length of the JSON."""
    inputs = [
        {"name": "y", "datatype": "INT32", "shape": y.shape, "data": y.tolist()},
        {"name": "x", "datatype": "FP32", "shape": x.shape, "parameters": {"binary_data_size": x.nbytes}},
    ]
    head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}, **more}).encode()
    return head + x.tobytes(), str(len(head))


def grpc_request(x: np.ndarray, y: np.ndarray) -> bytes:
    message = CLASSES["ModelInferRequest"](model_name="m")
    for name, datatype, array in (("y", "INT32", y), ("x", "FP32", x)):
        message.inputs.add(name=name, datatype=datatype, shape=array.shape)
        message.raw_input_contents.append(array.tobytes())
    return message.SerializeToString()


def read_grpc(model: ModelInterface, content: bytes) -> InferRequest:
    message = CLASSES["ModelInferRequest"]()
    message.ParseFromString(content)
    return grpc_codec.read_request(model, message)


def rows(first: float) -> np.ndarray:
    return np.arange(first, first + 6, dtype=np.float32).reshape(3, 2)


Y = np.array([1, 2, 3], np.int32)


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_equal_heads_have_elements_of_their_own(protocol: str) -> None:
    model = interface()
    codec = http_codec if protocol == "http" else grpc_codec
    before = codec._kept_head.cache_info()
    for first in (0.0, 10.0, 20.0):
        if protocol == "http":
            given = http_codec.read_request(model, *http_request(rows(first), Y))
        else:
            given = read_grpc(model, grpc_request(rows(first), Y))
        np.testing.assert_array_equal(given.inputs[0], rows(first))
        np.testing.assert_array_equal(given.inputs[1], Y)
    after = codec._kept_head.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (2, 1)


def test_a_kept_head_is_its_models_alone() -> None:
    """A file that changes has other inputs, perhaps."""
    body, length = http_request(rows(0), Y)
    http_codec.read_request(interface(), body, length)
    for _ in range(2):
        with pytest.raises(InvalidRequestError, match=r"'x' has shape \[3, 2\]; the model takes \[-1, 4\]"):
            http_codec.read_request(interface(width=4), body, length)
    content = grpc_request(rows(0), Y)
    read_grpc(interface(), content)
    with pytest.raises(InvalidRequestError, match=r"'x' has shape \[3, 2\]"):
        read_grpc(interface(width=4), content)


def test_sizes_are_compared_for_kept_heads_too() -> None:
    model = interface()
    body, length = http_request(rows(0), Y)
    http_codec.read_request(model, body, length)
    with pytest.raises(InvalidRequestError, match="binary_data_size is 24, but 23 bytes"):
        http_codec.read_request(model, body[:-1], length)
    message = CLASSES["ModelInferRequest"]()
    message.ParseFromString(grpc_request(rows(0), Y))
    grpc_codec.read_request(model, message)
    message.ParseFromString(grpc_request(rows(0), Y))
    message.raw_input_contents[1] = b"123"
    with pytest.raises(InvalidRequestError, match="'x' has 3 bytes; its shape and datatype make 24"):
        grpc_codec.read_request(model, message)


def test_calls_write_to_copies() -> None:
    """What a call writes to a donated input does not reach the request, nor the next one with this head."""
    model = interface(donated=True)
    body, length = http_request(rows(0), Y)
    for _ in range(2):
        (x, _) = http_codec.read_request(model, body, length).inputs
        np.testing.assert_array_equal(x, rows(0))
        x[:] = -1


def test_long_heads_are_not_kept() -> None:
    model = interface()
    body, length = http_request(rows(0), Y, comment="x" * LONGEST_KEPT)
    before = http_codec._kept_head.cache_info()
    http_codec.read_request(model, body, length)
    assert http_codec._kept_head.cache_info() == before


def test_answers_of_equal_shapes_have_ids_and_values_of_their_own() -> None:
    model = interface()
    for number in (1, 2):
        body, length = http_request(rows(0), Y, id=str(number))
        head = http_codec.read_request(model, body, length).head
        answer, size = http_codec.write_answer(model, head, [rows(number)])
        assert json.loads(answer[:size])["id"] == str(number) and answer[size:] == rows(number).tobytes()
        content = grpc_codec.write_answer(model, head, [rows(number)])
        found = CLASSES["ModelInferResponse"].FromString(content)
        assert found.id == str(number) and list(found.raw_output_contents) == [rows(number).tobytes()]
    for count in (3, 2):
        body, length = http_request(rows(0), Y)
        head = http_codec.read_request(model, body, length).head
        answer, size = http_codec.write_answer(model, head, [rows(7)[:count]])
        output = {"name": "z", "datatype": "FP32", "shape": [count, 2], "parameters": {"binary_data_size": count * 8}}
        assert json.loads(answer[:size]) == {"model_name": "m", "model_version": "1", "outputs": [output]}
        assert answer[size:] == rows(7)[:count].tobytes()
