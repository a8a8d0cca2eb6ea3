"""Nodes against the schemas of their ops: opsets, numbers of inputs and outputs, attributes."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import onnx
import onnx.defs

from dlc.frontends.onnx.validation.problems import Problems, place_of

_STANDARD = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training")
"""Domains whose schemas the onnx package has."""
_OLDER_ELSEWHERE = frozenset({("", "LayerNormalization")})
"""Ops that onnxruntime's optimiser writes in ONNX's domain whatever the opset is."""
_KIND = onnx.AttributeProto.AttributeType
_OPTIONAL = onnx.defs.OpSchema.FormalParameterOption.Optional
_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic


def check_versions(model: onnx.ModelProto, problems: Problems) -> None:
    """The versions of format and opsets must be ones that exist; later ones than this package knows may pass."""
    newest = int(onnx.IR_VERSION)
    if not 0 < model.ir_version <= newest:
        what = f"IR version {model.ir_version} is not known"
        problems.add("", what, f"export the model with 1 to {newest}", model.ir_version > newest)
    if not any(entry.domain in ("", "ai.onnx") for entry in model.opset_import) and _uses_standard(model):
        problems.add("", "opset_import names no version of ONNX's own ops", "export the model with one")
    for entry in model.opset_import:
        last = onnx.defs.onnx_opset_version() if entry.domain in ("", "ai.onnx") else None
        if last is not None and not 0 < entry.version <= last:
            what = f"opset {entry.version} is not known"
            problems.add("", what, f"export the model with 1 to {last}", entry.version > last)
        elif last is None and not 0 < entry.version < 2**31:
            problems.add("", f"version {entry.version} of '{entry.domain}' is none", "give the one that the model is written for")


def _uses_standard(model: onnx.ModelProto) -> bool:
    return any(node.domain in ("", "ai.onnx") for node in model.graph.node)


def check_nodes(model: onnx.ModelProto, problems: Problems) -> None:
    """Each node that has a schema; others are their importer's business."""
    versions = {"" if entry.domain == "ai.onnx" else entry.domain: int(entry.version) for entry in model.opset_import}
    own = {(function.domain, function.name) for function in model.functions}
    _check_all(model.graph, versions, own, problems)


def _check_all(graph: onnx.GraphProto, versions: Mapping[str, int], own: set[tuple[str, str]], problems: Problems) -> None:
    for node in graph.node:
        domain = "" if node.domain == "ai.onnx" else node.domain
        _check_attribute_names(node, problems)
        is_own = (node.domain, node.op_type) in own
        schema = None if is_own else schema_of(node.op_type, versions.get(domain, 1), domain)
        if not is_own:
            _check_domain(node, domain, versions, problems)
        if schema is not None:
            _check_counts(node, schema, problems)
            _check_attributes(node, schema, problems)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _check_all(attribute.g, versions, own, problems)


def _check_domain(node: onnx.NodeProto, domain: str, versions: Mapping[str, int], problems: Problems) -> None:
    """The domain of a node must be imported, with a version that has the op."""
    if domain not in versions:
        if domain:  # without ONNX's own, `check_versions` says so
            problems.add(place_of(node), f"opset_import names no version of '{domain}'", "add one", tolerable=True)
        return
    first = _first_version(node.op_type, domain)
    if first is not None and versions[domain] < first and (domain, node.op_type) not in _OLDER_ELSEWHERE:
        what = f"the op is new in opset {first} but the model imports {versions[domain]}"
        problems.add(place_of(node), what, f"export the model with {first} or later", tolerable=True)


@functools.lru_cache(maxsize=4096)
def _first_version(op: str, domain: str) -> int | None:
    """The first opset that has an op; None for an op that the onnx package does not know."""
    if not onnx.defs.has(op, domain=domain):
        return None
    version = int(onnx.defs.get_schema(op, domain=domain).since_version)
    while version > 1 and (older := schema_of(op, version - 1, domain)) is not None:
        version = int(older.since_version)
    return version


@functools.lru_cache(maxsize=4096)
def schema_of(op: str, version: int, domain: str) -> onnx.defs.OpSchema | None:
    """The schema of an op in an opset, by the newest that is known where the opset is newer; None where there is none."""
    if domain not in _STANDARD:
        return None
    try:
        return onnx.defs.get_schema(op, max(min(version, 2**31 - 1), 0), domain)
    except onnx.defs.SchemaError:
        return None


def _check_counts(node: onnx.NodeProto, schema: onnx.defs.OpSchema, problems: Problems) -> None:
    for what, have, least, most in (
        ("inputs", len(node.input), schema.min_input, schema.max_input),
        ("outputs", len(node.output), schema.min_output, schema.max_output),
    ):
        if not least <= have <= most:
            wanted = f"{least}" if least == most else f"{least} or more" if most > 2**30 else f"{least} to {most}"
            problems.add(place_of(node), f"has {have} {what}", f"the op has {wanted}")
    for name, parameter in zip(node.input, schema.inputs, strict=False):
        if not name and parameter.option not in (_OPTIONAL, _VARIADIC):
            problems.add(place_of(node), f"input '{parameter.name}' is missing", "the op cannot do without it")


def _check_attribute_names(node: onnx.NodeProto, problems: Problems) -> None:
    names = [attribute.name for attribute in node.attribute]
    for name in {name for name in names if names.count(name) > 1}:
        problems.add(place_of(node), f"has the attribute '{name}' twice", "give it once")


def _check_attributes(node: onnx.NodeProto, schema: onnx.defs.OpSchema, problems: Problems) -> None:
    known = schema.attributes
    given = {attribute.name: attribute for attribute in node.attribute}
    for name, attribute in given.items():
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            problems.add(place_of(node), f"has no attribute '{name}'", f"it has: {names}", tolerable=True)
        elif not attribute.ref_attr_name and attribute.type != int(known[name].type.value):
            wanted, have = _kind_name(int(known[name].type.value)), _kind_name(attribute.type)
            problems.add(place_of(node), f"attribute '{name}' is of kind {have}", f"it has to be of kind {wanted}")
    for name, attribute in known.items():
        if attribute.required and name not in given:
            problems.add(place_of(node), f"attribute '{name}' is missing", "the op cannot do without it")


def _kind_name(kind: int) -> str:
    return _KIND.Name(kind).lower() if kind in _KIND.values() else str(kind)
