"""An inference request as an HTTP body, answered by its model: what `dlc serve` and the deployment for Ray Serve share."""

from __future__ import annotations

from .http_codec import LENGTH_HEADER, read_request, write_answer
from .off_loop import off_loop
from .repository import ServedModel


async def infer(model: ServedModel, body: bytes, header_length: str | None, is_alone: bool = True) -> tuple[bytes, dict[str, str]]:
    """Body and headers of the answer to the request in `body`; `ServingError` says why there is none.

    `is_alone` says that no other request is known to be here.
    """
    loaded = model.loaded
    given = await off_loop(len(body), read_request, loaded.interface, body, header_length)
    results = await model.infer(loaded, given.inputs, given.head.timeout, is_alone)
    wanted = [results[number] for number in given.head.outputs]
    size = sum(array.nbytes for array in wanted)
    answer, head = await off_loop(size, write_answer, loaded.interface, given.head, wanted)
    if head is None:
        return answer, {"Content-Type": "application/json"}
    return answer, {"Content-Type": "application/octet-stream", LENGTH_HEADER: str(head)}
