"""`dl-bind-params`: weights become trailing arguments of the entry function, and the module states its signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.symbols import symbol_name
from dlc.dialects.dl.types import tensor_type
from dlc.lowering.dl.weights.precompute import MARK, Precompute
from dlc.lowering.pass_base import Pass, PassFailure


@dataclass(frozen=True)
class BindParams(Pass):
    """Replace the `dl.param` ops of the entry function by arguments and write `dl.signature`.

    One argument per distinct key, in order of first use, after the arguments that are there; its attribute `dl.param`
    is the key. The module attribute `dl.signature` lists inputs, outputs and params with their names and types, from
    `dl.name` (else `arg0`, `out0`, ...) and `dl.dims`. The entry is the public function with params or `dl.name`, or
    the only public one. Running it again changes nothing.

    The params of a function marked `dl.precompute` become its arguments, and `dl.signature` gets the entry `precompute` with its
    name, its params and its results, which are params of the entry by their keys.

    before: func.func @f(%x: tensor<2xf32>) { %w = "dl.param"() {key = "w", ...} ... }
    after:  func.func @f(%x: tensor<2xf32>, %w: tensor<2xf32> {dl.param = "w"}) { ... }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the entry function of the module `op`."""
        functions = [item.operation for item in op.regions[0].blocks[0].operations]
        precompute = Precompute.of(op)
        functions = [function for function in functions if _is_defined_function(function) and MARK not in function.attributes]
        entry = _find_entry(op, functions)
        for function in functions:
            if function != entry:
                _refuse_params(function)
        kinds = _check_precompute(precompute) if precompute else {}
        _check_types(entry, kinds)
        _bind(entry)
        parts = _signature(entry)
        if precompute:
            _bind(precompute.function)
            parts["precompute"] = _precompute_signature(precompute.function)
        op.attributes["dl.signature"] = ir.DictAttr.get(parts)


def _is_defined_function(operation: ir.Operation) -> bool:
    return operation.name == "func.func" and len(operation.regions[0].blocks) > 0


def _ops(operation: ir.Operation, name: str) -> Iterator[ir.Operation]:
    """The ops called `name` below an op, those inside of one before it."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield from _ops(op.operation, name)
                if op.operation.name == name:
                    yield op.operation


def _find_entry(module: ir.Operation, functions: Sequence[ir.Operation]) -> ir.Operation:
    public = [function for function in functions if not _is_private(function)]
    marked = [function for function in public if _is_named(function) or any(_ops(function, "dl.param"))]
    candidates = marked or public
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise PassFailure(module, "the module has no public function with a body", "make its entry function public")
    names = ", ".join(f"@{symbol_name(function)}" for function in candidates)
    raise PassFailure(module, f"the module has several entry functions ({names})", "make all but one private")


def _is_private(function: ir.Operation) -> bool:
    return "sym_visibility" in function.attributes and function.attributes["sym_visibility"].value != "public"


def _is_named(function: ir.Operation) -> bool:
    """True when an argument or a result carries `dl.name`, or an argument `dl.param`."""
    entries = [*_attributes(function, "arg_attrs"), *_attributes(function, "res_attrs")]
    return any("dl.name" in entry or "dl.param" in entry for entry in entries)


def _attributes(function: ir.Operation, which: str) -> list[ir.DictAttr]:
    """The attribute dictionaries of all arguments (`arg_attrs`) or results (`res_attrs`)."""
    if which in function.attributes:
        return [ir.DictAttr(item) for item in ir.ArrayAttr(function.attributes[which])]
    kind = _function_type(function)
    return [ir.DictAttr.get({})] * len(kind.inputs if which == "arg_attrs" else kind.results)


def _function_type(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _key(param: ir.Operation) -> str:
    key: str = param.attributes["key"].value
    return key


def _refuse_params(function: ir.Operation) -> None:
    for param in _ops(function, "dl.param"):
        name = symbol_name(function)
        raise PassFailure(
            param,
            f"'dl.param' op with key '{_key(param)}' stands in @{name}, which is not the entry function",
            f"inline @{name} with --inline, or pass the weight to it as an argument",
        )


def _check_precompute(precompute: Precompute) -> dict[str, ir.Type]:
    """Refuse one that takes anything but weights; the types of the weights that it reads and gives by key."""
    precompute.check()
    function = precompute.function
    kinds: dict[str, ir.Type] = {}
    _check_types(function, kinds)
    return kinds | dict(zip(precompute.keys(), _function_type(function).results, strict=True))


def _check_types(entry: ir.Operation, kinds: dict[str, ir.Type]) -> None:
    """Refuse two params with one key and different types; also against arguments bound before and `kinds`, which grows."""
    kinds |= {key: argument.type for key, argument in _bound_arguments(entry)}
    for param in _ops(entry, "dl.param"):
        kind = param.results[0].type
        first = kinds.setdefault(_key(param), kind)
        if first != kind:
            raise PassFailure(
                param,
                f"'dl.param' op has type {kind} but key '{_key(param)}' has type {first} before",
                "give weights of different types different keys",
            )


def _bound_arguments(entry: ir.Operation) -> Iterator[tuple[str, ir.BlockArgument]]:
    for argument, attributes in zip(entry.regions[0].blocks[0].arguments, _attributes(entry, "arg_attrs"), strict=True):
        if "dl.param" in attributes:
            yield attributes["dl.param"].value, argument


def _bind(entry: ir.Operation) -> None:
    """Replace the params of a function by arguments of it."""
    block = entry.regions[0].blocks[0]
    bound: dict[str, ir.Value] = dict(_bound_arguments(entry))
    attributes = _attributes(entry, "arg_attrs")
    for param in list(_ops(entry, "dl.param")):
        key, result = _key(param), param.results[0]
        if key not in bound:
            bound[key] = block.add_argument(result.type, param.location)
            attributes.append(ir.DictAttr.get({"dl.param": ir.StringAttr.get(key)}))
        result.replace_all_uses_with(bound[key])
        param.erase()
    kind = ir.FunctionType.get([argument.type for argument in block.arguments], _function_type(entry).results)
    entry.attributes["function_type"] = ir.TypeAttr.get(kind)
    if any(len(item) for item in attributes):
        entry.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)


def _precompute_signature(function: ir.Operation) -> ir.DictAttr:
    kind = _function_type(function)
    params = list(zip(kind.inputs, _attributes(function, "arg_attrs"), strict=True))
    results = list(zip(kind.results, _attributes(function, "res_attrs"), strict=True))
    parts = {
        "params": _entries(function, params, "dl.param", "param"),
        "results": _entries(function, results, "dl.param", "out"),
    }
    return ir.DictAttr.get({"entry": ir.StringAttr.get(symbol_name(function)), **parts})


def _signature(entry: ir.Operation) -> dict[str, ir.Attribute]:
    kind = _function_type(entry)
    arguments = list(zip(kind.inputs, _attributes(entry, "arg_attrs"), strict=True))
    results = list(zip(kind.results, _attributes(entry, "res_attrs"), strict=True))
    for item in (*kind.inputs, *kind.results):
        if tensor_type(item) is None:
            raise PassFailure(
                entry,
                f"@{symbol_name(entry)} takes or gives a {item}, which is no ranked tensor of a dl element type",
                "change the entry function to take and give tensors",
            )
    inputs = [(item, attributes) for item, attributes in arguments if "dl.param" not in attributes]
    params = [(item, attributes) for item, attributes in arguments if "dl.param" in attributes]
    return {
        "entry": ir.StringAttr.get(symbol_name(entry)),
        "inputs": _entries(entry, inputs, "dl.name", "arg"),
        "outputs": _entries(entry, results, "dl.name", "out"),
        "params": _entries(entry, params, "dl.param", "param"),
    }


def _entries(function: ir.Operation, tensors: Sequence[tuple[ir.Type, ir.DictAttr]], label: str, prefix: str) -> ir.ArrayAttr:
    """`{name, type}` of each tensor, with `dims` where they are named, and `donated` where the caller gives it away."""
    entries = []
    for index, (kind, attributes) in enumerate(tensors):
        name = attributes[label] if label in attributes else ir.StringAttr.get(f"{prefix}{index}")
        entry = {"name": name, "type": ir.TypeAttr.get(kind)}
        if "dl.dims" in attributes:
            if not _are_names(attributes["dl.dims"]):
                what = f"'{name.value}' has {attributes['dl.dims']} as names of dims"
                raise PassFailure(function, what, 'give a list of texts, a name, or "", for each dim')
            if len(attributes["dl.dims"]) > ir.RankedTensorType(kind).rank:
                what = f"'{name.value}' has {len(attributes['dl.dims'])} names of dims in dl.dims, and is a {kind}"
                raise PassFailure(function, what, 'give a name, or "", for each dim')
            entry["dims"] = attributes["dl.dims"]
        if "dl.donated" in attributes:
            entry["donated"] = ir.UnitAttr.get()
        entries.append(ir.DictAttr.get(entry))
    return ir.ArrayAttr.get(entries)


def _are_names(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.ArrayAttr) and all(isinstance(name, ir.StringAttr) for name in attribute)
