"""Decoding of images, by Pillow."""

from __future__ import annotations

import io

import numpy as np

from dlc.runtime.host.registry import HostNode, HostOpError, host_op

_FORMATS = {"RGB": "RGB", "BGR": "RGB", "Grayscale": "L"}
"""Formats of pixels by Pillow's names for what they are decoded to."""


@host_op("ImageDecoder", "images are decoded by a library")
def image_decoder(node: HostNode, encoded: np.ndarray) -> np.ndarray:
    """The pixels of an image file (ui8 bytes) as ui8 [height, width, channels] (ONNX ImageDecoder)."""
    order = node.get("pixel_format", "RGB")
    if order not in _FORMATS:
        raise HostOpError(f"pixel_format is '{order}'; give {', '.join(_FORMATS)}")
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise HostOpError("needs Pillow; install dlc[image]") from None
    try:
        with Image.open(io.BytesIO(encoded.tobytes())) as image:
            pixels = np.array(image.convert(_FORMATS[order]))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise HostOpError(f"its input is no image that Pillow reads: {error}") from None
    if order == "Grayscale":
        return pixels[:, :, np.newaxis]
    return np.ascontiguousarray(pixels[:, :, ::-1]) if order == "BGR" else pixels
