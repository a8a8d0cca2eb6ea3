"""Models that PyTorch runs for comparison have their constant numbers as numbers; skipped without onnx2torch."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

torch = pytest.importorskip("torch")
onnx2torch = pytest.importorskip("onnx2torch")

from dlc.measuring.torch_graph import with_known_numbers  # noqa: E402

_MODEL = """
<ir_version: 8, opset_import: ["" : 13]>
numbers (float[2, 3, 4] x) => (float[2, 5, 12] y, float[3, 4] z)
<int64[2] rows = {0, -1}, int64[3] copies = {1, 5, 1}, int64[1] axes = {1}, int64 last = {-1}, float half = {0.5}> {
  a = Reshape(x, rows)
  b = Unsqueeze(a, axes)
  c = Expand(b, copies)
  y = Mul(c, half)
  z = Gather<axis = 0>(x, last)
}
"""


def test_graphs_are_compiled_whole() -> None:
    """Which they are not with shapes and indices in tensors."""
    module = with_known_numbers(onnx2torch.convert(onnx.parser.parse_model(_MODEL)).eval())
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    with torch.inference_mode():
        y, z = torch.compile(module, fullgraph=True, backend="eager")(torch.from_numpy(x))
    np.testing.assert_array_equal(y.numpy(), np.broadcast_to(x.reshape(2, 1, 12) / 2, (2, 5, 12)))
    np.testing.assert_array_equal(z.numpy(), x[-1])


def test_operands_that_inputs_are_stay() -> None:
    text = '<ir_version: 8, opset_import: ["" : 13]> sums (float[3] x, float[3] y) => (float[3] z) { z = Add(x, y) }'
    module = with_known_numbers(onnx2torch.convert(onnx.parser.parse_model(text)).eval())
    np.testing.assert_array_equal(module(torch.ones(3), torch.full((3,), 2.0)).numpy(), np.full(3, 3.0))
