"""The protocol over gRPC, by grpcio."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from ..errors import RuntimeLoadError
from .errors import InvalidRequestError, error_of_call
from .grpc_codec import read_request, write_answer
from .grpc_messages import CLASSES, METHODS, SERVICE
from .off_loop import off_loop
from .state import SERVER_METADATA, ServerState

_FRAMING = 1 << 16
"""Bytes that a message may have beyond the tensors of its request."""
_MOST_CALLS = 4096
"""Calls at a time; further ones are refused by grpcio with RESOURCE_EXHAUSTED."""
_Context = Any
"""`grpc.aio.ServicerContext`."""


class GrpcService:
    """Methods of the service. Messages are decoded here, so that a broken one is INVALID_ARGUMENT."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    def server(self, credentials: grpc.ServerCredentials | None) -> tuple[grpc.aio.Server, int]:
        """A server that does not run yet, and its port; `RuntimeLoadError` if that is taken. Without credentials, no TLS."""
        options = self._state.options
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", options.max_request_bytes + _FRAMING),
                ("grpc.max_send_message_length", -1),
                ("grpc.so_reuseport", 0),  # a second server on the port is an error
            ],
            maximum_concurrent_rpcs=_MOST_CALLS,
        )
        handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
            name: grpc.unary_unary_rpc_method_handler(functools.partial(self._answer, name, getattr(self, f"_{name}")))
            for name in METHODS
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
        host = f"[{options.host}]" if ":" in options.host else options.host
        address = f"{host}:{options.grpc_port}"
        try:
            port = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
        except RuntimeError:
            port = 0
        if not port:
            raise RuntimeLoadError(f"cannot listen on {address} for gRPC; give another --grpc-port")
        return server, port

    async def _answer(self, name: str, method: Callable[[Any], Awaitable[Any]], content: bytes, context: _Context) -> bytes:
        try:
            answer = await method(_parsed(f"{name}Request", content))
            encoded: bytes = answer if isinstance(answer, bytes) else answer.SerializeToString()
            return encoded
        except asyncio.CancelledError:
            raise
        except Exception as raised:
            error = error_of_call(raised)
        await context.abort(grpc.StatusCode[error.grpc_code], str(error))
        raise AssertionError("abort raises")

    async def _ServerLive(self, request: Any) -> Any:  # noqa: N802  # names of the protocol, here and below
        return CLASSES["ServerLiveResponse"](live=True)

    async def _ServerReady(self, request: Any) -> Any:  # noqa: N802
        return CLASSES["ServerReadyResponse"](ready=self._state.is_ready)

    async def _ModelReady(self, request: Any) -> Any:  # noqa: N802
        self._state.repository.find(request.name, request.version)
        return CLASSES["ModelReadyResponse"](ready=self._state.is_ready)

    async def _ServerMetadata(self, request: Any) -> Any:  # noqa: N802
        return CLASSES["ServerMetadataResponse"](**SERVER_METADATA)

    async def _ModelMetadata(self, request: Any) -> Any:  # noqa: N802
        model = self._state.repository.find(request.name, request.version)
        return CLASSES["ModelMetadataResponse"](**model.loaded.interface.metadata())

    async def _ModelInfer(self, request: Any) -> bytes:  # noqa: N802
        with self._state.answering("grpc", request.model_name):
            model = self._state.repository.find(request.model_name, request.model_version)
            loaded = model.loaded
            given = await off_loop(request.ByteSize(), read_request, loaded.interface, request)
            results = await model.infer(loaded, given.inputs, given.head.timeout)
            wanted = [results[number] for number in given.head.outputs]
            answer: bytes = await off_loop(
                sum(array.nbytes for array in wanted), write_answer, loaded.interface, given.head, wanted
            )
            return answer


def _parsed(name: str, content: bytes) -> Any:
    request = CLASSES[name]()
    try:
        request.ParseFromString(content)
    except DecodeError as error:
        raise InvalidRequestError(f"the request is no {name}: {str(error)[:200]}") from None
    return request
