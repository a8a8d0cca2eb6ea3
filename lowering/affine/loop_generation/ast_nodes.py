"""Questions to the nodes of isl's ASTs."""

from __future__ import annotations

import islpy as isl


def children_of(block: isl.AstNode) -> list[isl.AstNode]:
    """The nodes of a block."""
    nodes = block.block_get_children()
    return [nodes.get_ast_node(at) for at in range(nodes.n_ast_node())]


def calls_in(node: isl.AstNode) -> list[isl.AstNode] | None:
    """The user nodes that `node` consists of; None where there is anything else."""
    if node.get_type() == isl.ast_node_type.user:
        return [node]
    if node.get_type() != isl.ast_node_type.block:
        return None
    found = [calls_in(child) for child in children_of(node)]
    return None if any(calls is None for calls in found) else [call for calls in found for call in calls or ()]


def statement_of(call: isl.AstNode) -> str:
    """The name of the statement that a user node runs."""
    return str(call.user_get_expr().get_op_arg(0).get_id().get_name())


def first_statement(node: isl.AstNode) -> str:
    """The name of the first statement that `node` runs; "" for none."""
    found: list[str] = []

    def visit(inner: isl.AstNode) -> bool:
        if not found and inner.get_type() == isl.ast_node_type.user:
            found.append(statement_of(inner))
        return not found

    node.foreach_descendant_top_down(visit)
    return found[0] if found else ""


def iterator_of(loop: isl.AstNode) -> str:
    """The name of a loop's variable."""
    return str(loop.for_get_iterator().get_id().get_name())


def step_of(loop: isl.AstNode) -> int:
    """How far apart the values of a loop's variable are."""
    return int(str(loop.for_get_inc().get_val()))


def iterators(count: int) -> isl.IdList:
    """Names for the variables of `count` loops inside each other."""
    found = isl.IdList.alloc(isl.DEFAULT_CONTEXT, count)
    for depth in range(count):
        found = found.add(isl.Id(f"c{depth}"))
    return found


def depth_of(loop: isl.AstNode) -> int:
    """How many loops the schedule has around a loop whose variable has one of the names of `iterators`."""
    return int(iterator_of(loop).removeprefix("c"))
