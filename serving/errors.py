"""What a request can fail by: each kind with its HTTP status and its gRPC code."""

from __future__ import annotations

from ..errors import DLCError, InvalidInputError, OutOfMemoryError


class ServingError(DLCError):
    """A request that fails through a fault of the server or of the model."""

    http_status = 500
    grpc_code = "INTERNAL"


class InvalidRequestError(ServingError):
    """A request that breaks the protocol or does not fit the model."""

    http_status = 400
    grpc_code = "INVALID_ARGUMENT"


class UnknownModelError(ServingError):
    """A model, version or path that is not served here."""

    http_status = 404
    grpc_code = "NOT_FOUND"


class TooLargeError(ServingError):
    """A request of more bytes than the server takes."""

    http_status = 413
    grpc_code = "RESOURCE_EXHAUSTED"


class QueueFullError(ServingError):
    """More requests wait than the server keeps, or there is no memory for one; worth another try later."""

    http_status = 503
    grpc_code = "RESOURCE_EXHAUSTED"


class StoppingError(ServingError):
    """The server, or the model, is being stopped."""

    http_status = 503
    grpc_code = "UNAVAILABLE"


class TimedOutError(ServingError):
    """A request that has not been answered within its time."""

    http_status = 504
    grpc_code = "DEADLINE_EXCEEDED"


def error_of_call(error: Exception) -> ServingError:
    """The error of a request whose call raised `error`."""
    if isinstance(error, ServingError):
        return error
    if isinstance(error, InvalidInputError):
        return InvalidRequestError(str(error))
    if isinstance(error, MemoryError):
        return QueueFullError(str(error) if isinstance(error, OutOfMemoryError) else "out of memory")
    if isinstance(error, DLCError):
        return ServingError(str(error))
    return ServingError(f"internal error: {type(error).__name__}: {error}")
