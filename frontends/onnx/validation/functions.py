"""The model's own functions, and their calls."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from dlc.frontends.onnx.nested_nodes import with_bodies
from dlc.frontends.onnx.validation.problems import Problems, place_of

Key = tuple[str, str, str]
"""Domain, name and overload of a function."""


def check_functions(model: onnx.ModelProto, problems: Problems) -> None:
    """Each function is there once, gives its outputs and does not call itself; calls hand over no more than it takes."""
    functions = {_key_of(each, each.name): each for each in model.functions}
    for key in functions:
        if sum(_key_of(each, each.name) == key for each in model.functions) > 1:
            problems.add("", f"two functions are called '{_shown(key)}'", "give each a name of its own")
    for key, function in functions.items():
        _check_outputs(key, function, problems)
    for nodes in (model.graph.node, *(each.node for each in functions.values())):
        for node in with_bodies(nodes):
            _check_call(node, functions.get(_key_of(node, node.op_type)), problems)
    for node in with_bodies(model.graph.node):
        _check_references(node, problems)
    _check_recursion(functions, problems)


def _key_of(entry: onnx.FunctionProto | onnx.NodeProto, name: str) -> Key:
    return ("" if entry.domain == "ai.onnx" else entry.domain, name, entry.overload)


def _shown(key: Key) -> str:
    return ".".join(part for part in key if part)


def _check_outputs(key: Key, function: onnx.FunctionProto, problems: Problems) -> None:
    if len(set(function.input)) != len(function.input):
        problems.add(f"function '{_shown(key)}'", "two of its inputs have one name", "give each a name of its own")
    made = {*function.input, *(name for node in function.node for name in node.output)}
    for name in function.output:
        if not name or name not in made:
            problems.add(f"function '{_shown(key)}'", f"nothing defines its output '{name}'", "export the model again")


def _check_call(node: onnx.NodeProto, function: onnx.FunctionProto | None, problems: Problems) -> None:
    if function is None:
        return
    for what, have, most in (
        ("inputs", len(node.input), len(function.input)),
        ("outputs", len(node.output), len(function.output)),
    ):
        if have > most:
            problems.add(place_of(node), f"has {have} {what}", f"the function has {most}")


def _check_references(node: onnx.NodeProto, problems: Problems) -> None:
    """Attributes of functions are known in functions alone."""
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            what = f"attribute '{attribute.name}' refers to '{attribute.ref_attr_name}' of a function, but is in none"
            problems.add(place_of(node), what, "give its value")


def _check_recursion(functions: Mapping[Key, onnx.FunctionProto], problems: Problems) -> None:
    """Functions whose calls end are dropped one after another: what stays calls itself, or what does."""
    calls = {
        key: {_key_of(node, node.op_type) for node in with_bodies(function.node)} & functions.keys()
        for key, function in functions.items()
    }
    while ended := [key for key, called in calls.items() if called.isdisjoint(calls)]:
        for key in ended:
            del calls[key]
    for key in calls:
        problems.add(f"function '{_shown(key)}'", "calls itself, or a function that does", "export the model without recursion")
