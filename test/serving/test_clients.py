"""Triton's clients from PyPI, unchanged, over HTTP and gRPC."""

from __future__ import annotations

import queue

import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from served import TYPES, Running, small_input
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

import dlc

CLIENTS = {"http": triton_http, "grpc": triton_grpc}


@pytest.fixture(params=CLIENTS)
def client(request, server: Running):
    module = CLIENTS[request.param]
    with module.InferenceServerClient(getattr(server, request.param)) as made:
        yield module, made


def given(module, name: str, datatype: str, array: np.ndarray, **options):
    tensor = module.InferInput(name, list(array.shape), datatype)
    tensor.set_data_from_numpy(array, **options)
    return tensor


def test_health_and_metadata(client) -> None:
    module, made = client
    assert made.is_server_live() and made.is_server_ready()
    assert made.is_model_ready("small") and made.is_model_ready("small", "1")
    options = {} if module is triton_http else {"as_json": True}
    assert made.get_server_metadata(**options)["name"] == "dlc"
    found = made.get_model_metadata("small", **options)
    assert (found["name"], found["versions"], found["platform"]) == ("small", ["1"], "dlc_engine")
    (x,), (y,) = found["inputs"], found["outputs"]
    assert (x["name"], x["datatype"], list(map(int, x["shape"]))) == ("x", "FP32", [-1, 12])
    assert (y["name"], y["datatype"], list(map(int, y["shape"]))) == ("logits", "FP32", [-1, 5])


def test_unknown_models(client) -> None:
    module, made = client
    for name, version in (("none", ""), ("small", "2")):
        with pytest.raises(InferenceServerException, match=r"no model 'none'|has no version '2'"):
            made.get_model_metadata(name, version)
        with pytest.raises(InferenceServerException, match=r"no model 'none'|has no version '2'"):
            made.infer(name, [given(module, "x", "FP32", small_input())], version)


@pytest.mark.parametrize("rows", [0, 1, 3, 1000])
def test_results_are_those_of_a_direct_call(client, small_file, rows: int) -> None:
    module, made = client
    x = small_input(rows)
    answer = made.infer("small", [given(module, "x", "FP32", x)], request_id="seven")
    np.testing.assert_array_equal(answer.as_numpy("logits"), dlc.load(small_file)(x)[0])
    response = answer.get_response()
    assert (response["id"] if module is triton_http else response.id) == "seven"


def sample(datatype: str) -> np.ndarray:
    """Two rows with the ends of the range of `datatype`; BF16 as f32, which the clients take."""
    dtype = np.dtype(triton_to_np_dtype(datatype))
    if datatype == "BOOL":
        return np.array([[True, False], [False, True]])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([[limits.min, limits.max], [0, 1]], dtype)
    return np.array([[-1.5, 0.0], [np.inf, 0.15625]], dtype)


def test_all_datatypes(client) -> None:
    module, made = client
    arrays = {name: sample(name) for name in TYPES}
    answer = made.infer("types", [given(module, f"x_{name}", name, array) for name, array in arrays.items()])
    for name, array in arrays.items():
        result = answer.as_numpy(f"y_{name}")
        np.testing.assert_array_equal(result, np.concatenate([array, array], 1), err_msg=name)
        assert result.dtype == array.dtype


def test_chosen_outputs(client) -> None:
    module, made = client
    inputs = [given(module, f"x_{name}", name, sample(name)) for name in TYPES]
    wanted = [module.InferRequestedOutput(f"y_{name}") for name in ("INT8", "BOOL")]
    answer = made.infer("types", inputs, outputs=wanted)
    assert answer.as_numpy("y_INT8") is not None and answer.as_numpy("y_FP32") is None
    with pytest.raises(InferenceServerException, match="has no output 'z'"):
        made.infer("types", inputs, outputs=[module.InferRequestedOutput("z")])


def test_http_in_json_alone(server: Running, small_file) -> None:
    x = small_input()
    with triton_http.InferenceServerClient(server.http) as made:
        wanted = [triton_http.InferRequestedOutput("logits", binary_data=False)]
        answer = made.infer("small", [given(triton_http, "x", "FP32", x, binary_data=False)], outputs=wanted)
        np.testing.assert_array_equal(answer.as_numpy("logits"), dlc.load(small_file)(x)[0])
        assert "data" in answer.get_response()["outputs"][0]


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_compression(client, small_file, algorithm: str) -> None:
    module, made = client
    x = np.zeros((500, 12), np.float32)
    names = (
        ("request_compression_algorithm", "response_compression_algorithm") if module is triton_http else ("compression_algorithm",)
    )
    answer = made.infer("small", [given(module, "x", "FP32", x)], **dict.fromkeys(names, algorithm))
    np.testing.assert_array_equal(answer.as_numpy("logits"), dlc.load(small_file)(x)[0])


def test_asynchronous_calls(client, small_file) -> None:
    module, made = client
    engine = dlc.load(small_file)
    inputs = {str(seed): small_input(2, seed) for seed in range(20)}
    requests = {name: [given(module, "x", "FP32", x)] for name, x in inputs.items()}
    if module is triton_http:
        pending = {name: made.async_infer("small", request) for name, request in requests.items()}
        answers = {name: each.get_result() for name, each in pending.items()}
    else:
        found: queue.Queue = queue.Queue()
        for name, request in requests.items():
            made.async_infer("small", request, lambda result, error: found.put(error or result), request_id=name)
        answers = {answer.get_response().id: answer for answer in (found.get(timeout=30) for _ in requests)}
    for name, x in inputs.items():
        np.testing.assert_array_equal(answers[name].as_numpy("logits"), engine(x)[0])


def test_messages_are_those_of_the_protocol() -> None:
    """Each field of the table has the number, type and label of Triton's, so that either can read the other's bytes."""
    from tritonclient.grpc import service_pb2

    from dlc.serving.grpc_messages import CLASSES, MESSAGES

    for path in MESSAGES:
        theirs = service_pb2
        for part in path.split("."):
            theirs = getattr(theirs, part)
        ours = CLASSES[path].DESCRIPTOR
        assert fields(ours) == {name: field for name, field in fields(theirs.DESCRIPTOR).items() if name in ours.fields_by_name}, (
            path
        )
        assert set(theirs.DESCRIPTOR.fields_by_name) == set(ours.fields_by_name), path


def fields(descriptor) -> dict[str, tuple[object, ...]]:
    return {
        field.name: (field.number, field.type, field.is_repeated, field.message_type and field.message_type.full_name)
        for field in descriptor.fields
    }
