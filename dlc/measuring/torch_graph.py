"""What onnx2torch makes of a model, with numbers where PyTorch's users write numbers.

onnx2torch keeps each constant of a model as a tensor. A shape, an index or a factor in one makes PyTorch ask the GPU for it in each
call, and Inductor refuses most such graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


def with_known_numbers(module: Any) -> Any:
    """Give ops of onnx2torch's in a `torch.fx.GraphModule` their constant shapes, scalar indices and scalar operands as numbers.

    Changes and returns the module.
    """
    modules = dict(module.named_modules())
    for node in list(module.graph.nodes):
        rewrite = _REWRITES.get(type(modules.get(node.target)).__name__) if node.op == "call_module" else None
        if rewrite is not None:
            rewrite(module, node, modules[node.target])
    module.recompile()
    return module


def reshape(x: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """ONNX's Reshape: 0 stands for the size that `x` has there."""
    return torch.reshape(x, [x.shape[dim] if size == 0 else size for dim, size in enumerate(sizes)])


def expand(x: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """ONNX's Expand: sizes of either are broadcast."""
    return x.expand(torch.broadcast_shapes(x.shape, tuple(sizes)))


def _give_sizes(function: Callable[..., torch.Tensor]) -> Callable[[Any, Any, Any], None]:
    """The rewrite of an op whose second operand is a shape."""

    def rewrite(module: Any, node: Any, op: Any) -> None:
        del op
        sizes = _constant(module, node.args[1])
        if sizes is not None:
            _replace(module, node, function, (node.args[0], tuple(sizes.tolist())))

    return rewrite


def _give_index(module: Any, node: Any, op: Any) -> None:
    index = _constant(module, node.args[1])
    if index is not None and index.dim() == 0:
        _replace(module, node, torch.select, (node.args[0], op._axis, int(index)))


def _give_operands(module: Any, node: Any, op: Any) -> None:
    """One operand at most: of two numbers PyTorch would make no tensor."""
    del op
    for place, operand in enumerate(node.args):
        value = _constant(module, operand)
        if value is not None and value.dim() == 0:
            node.update_arg(place, value.item())
            return


_REWRITES: dict[str, Callable[[Any, Any, Any], None]] = {
    "OnnxReshape": _give_sizes(reshape),
    "OnnxExpand": _give_sizes(expand),
    "OnnxGather": _give_index,
    "OnnxBinaryMathOperation": _give_operands,
}
"""By the class of onnx2torch that an op is."""


def _constant(module: Any, operand: Any) -> torch.Tensor | None:
    """The tensor that an operand always is; None for others."""
    if not isinstance(operand, torch.fx.Node) or operand.op != "get_attr":
        return None
    value = module
    for part in str(operand.target).split("."):
        value = getattr(value, part)
    return value if isinstance(value, torch.Tensor) else None


def _replace(module: Any, node: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    with module.graph.inserting_before(node):
        node.replace_all_uses_with(module.graph.call_function(function, arguments))
    module.graph.erase_node(node)
