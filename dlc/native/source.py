"""The C source of a model in native code: a record of it for the runtime, and the functions of its header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc.native.interface import CInterface, CTensor
from dlc.native.names import quoted
from dlc.runtime.signature import TensorSpec

MODEL = "model"
"""What the record is called after the model's name."""
_ENTRY = "run_entry"
_SHOWN = '#define SHOWN __attribute__((visibility("default")))'


@dataclass(frozen=True)
class WeightsPart:
    """The weights: in the file `content`, which goes into the code, or in `file` from `offset` on, beside it."""

    size: int
    content: str | None = None
    file: str | None = None
    offset: int = 0
    checksum: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class EntryPoint:
    """A function of the code by its name, which takes one table of pointers, or so many pointers one by one."""

    name: str
    arguments: int | None = None


@dataclass(frozen=True)
class SourceFacts:
    """What the record says beside the interface. `places` are where `params` begin in the weights."""

    target: str
    arch: str
    features: Sequence[str]
    entry: EntryPoint
    params: Sequence[TensorSpec]
    places: Sequence[int]
    weights: WeightsPart
    is_program: bool = False


def source_text(interface: CInterface, facts: SourceFacts) -> str:
    """C of a model whose header is `NAME.h`."""
    parts = [
        _head(interface.name),
        *_weights(interface.name, facts.weights),
        *_model(interface, facts),
        *_functions(interface),
    ]
    if facts.is_program:
        parts.append(
            f"\nint main(int count, char **arguments) {{ return dlc_native_main(&{interface.name}_{MODEL}, count, arguments); }}\n"
        )
    return "".join(parts)


def arena_source_text(interface: CInterface, facts: SourceFacts) -> str:
    """C of a model whose header is that of an arena; its weights and its entry are in other objects."""
    name = interface.name
    head = f'#include "{name}.h"\n#include <dlc/c_runtime.h>\n\nextern const unsigned char {name}_weights[];\n\n'
    return "".join([head, *_model(interface, facts), *_arena_functions(interface)])


def weights_text(name: str, file: str) -> str:
    """C whose object has the bytes of `file` under the name that the record takes the address of."""
    return _assembly(name, file, f".globl {name}_weights")


def _model(interface: CInterface, facts: SourceFacts) -> list[str]:
    """The record of the model, with what it points at."""
    return [
        *_entry(facts.entry),
        *_tensors("inputs", [(tensor.spec, _sizes(tensor, interface)) for tensor in interface.inputs]),
        *_tensors("outputs", [(tensor.spec, _sizes(tensor, interface)) for tensor in interface.outputs]),
        *_tensors("params", [(spec, [str(dim) for dim in spec.shape]) for spec in facts.params]),
        _list("uint64_t", "places", [str(place) for place in facts.places]),
        _list("char *const", "size_names", [quoted(size) for size in interface.sizes]),
        _list("char *const", "features", [quoted(feature) for feature in facts.features]),
        *_record(interface, facts),
    ]


def _head(name: str) -> str:
    lines = (f'#include "{name}.h"', "#include <dlc/native_model.h>", "", _SHOWN, "", "")
    return "\n".join(lines)


def _weights(name: str, weights: WeightsPart) -> Iterator[str]:
    """The bytes of the weights under a name that the record takes the address of."""
    if weights.content is None:
        return
    yield _assembly(name, weights.content)
    yield f'extern const unsigned char {name}_weights[] __attribute__((visibility("hidden")));\n\n'


def _assembly(name: str, file: str, *more: str) -> str:
    lines = (
        *more,
        f'.pushsection .rodata.{name}_weights,\\"a\\"',
        ".balign 64",
        f"{name}_weights:",
        f'.incbin \\"{file}\\"',
        ".popsection",
    )
    return "__asm__(" + "\n        ".join(f'"{line}\\n"' for line in lines) + ");\n"


def _entry(entry: EntryPoint) -> Iterator[str]:
    """A function of one table, of the record's type."""
    if entry.arguments is None:
        yield f"extern void {entry.name}(void **table);\nstatic void {_ENTRY}(void **table) {{ {entry.name}(table); }}\n\n"
        return
    types = ", ".join(["void *"] * entry.arguments) or "void"
    given = ", ".join(f"*(void **)table[{number}]" for number in range(entry.arguments))
    unused = "" if entry.arguments else "(void)table; "
    yield f"extern void {entry.name}({types});\nstatic void {_ENTRY}(void **table) {{ {unused}{entry.name}({given}); }}\n\n"


def _sizes(tensor: CTensor, interface: CInterface) -> list[str]:
    numbers = {size: f"DLC_NATIVE_SIZE({number})" for number, size in enumerate(interface.sizes)}
    return [
        str(size) if isinstance(size, int) else numbers[size] if size is not None else "DLC_NATIVE_UNKNOWN" for size in tensor.sizes
    ]


def _tensors(kind: str, tensors: Sequence[tuple[TensorSpec, Sequence[str]]]) -> Iterator[str]:
    """An array of records, and the sizes that they point at."""
    for number, (_, sizes) in enumerate(tensors):
        yield _list("int64_t", f"{kind}_{number}", sizes)
    rows = [
        f"{{{quoted(spec.name)}, {quoted(spec.dtype)}, {spec.numpy_dtype.itemsize}, {spec.rank}, {kind}_{number}}}"
        for number, (spec, _) in enumerate(tensors)
    ]
    yield _list("dlc_native_tensor", kind, rows)


def _list(kind: str, name: str, rows: Sequence[str]) -> str:
    """An array; C has none without elements."""
    return f"static const {kind} {name}[] = {{{', '.join(rows) or '0'}}};\n"


def _record(interface: CInterface, facts: SourceFacts) -> Iterator[str]:
    weights, name = facts.weights, interface.name
    digits = ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex(weights.sha256)) or "0"
    fields = {
        "abi": "DLC_NATIVE_ABI",
        "name": quoted(name),
        "target": quoted(facts.target),
        "architecture": quoted(facts.arch),
        "entry": _ENTRY,
        "input_count": len(interface.inputs),
        "output_count": len(interface.outputs),
        "param_count": len(facts.params),
        "size_count": len(interface.sizes),
        "feature_count": len(facts.features),
        "inputs": "inputs",
        "outputs": "outputs",
        "params": "params",
        "places": "places",
        "size_names": "size_names",
        "features": "features",
        "weights.file": quoted(weights.file) if weights.file else "NULL",
        "weights.memory": f"{name}_weights" if weights.content else "NULL",
        "weights.offset": weights.offset,
        "weights.bytes": weights.size,
        "weights.checksum": weights.checksum,
        "weights.sha256": f"{{{digits}}}",
    }
    yield f"\nstatic const dlc_native_model {name}_{MODEL} = {{\n"
    for field, value in fields.items():
        yield f"    .{field} = {value},\n"
    yield "};\n"


def _functions(interface: CInterface) -> Iterator[str]:
    name = interface.name
    yield f"""
SHOWN {name}_status {name}_init(const {name}_options *options, {name}_context **context) {{
  dlc_native_options given = {{0}};
  if (options) {{
    given.threads = options->threads;
    given.memory_limit = options->memory_limit;
    given.allocate = options->allocate;
    given.release = options->release;
    given.user = options->user;
    given.weights = options->weights;
  }}
  return ({name}_status)dlc_native_init(&{name}_{MODEL}, &given, (dlc_native_context **)context);
}}

SHOWN void {name}_cancel({name}_context *context) {{ dlc_native_cancel((dlc_native_context *)context); }}

SHOWN void {name}_free({name}_context *context) {{ dlc_native_free((dlc_native_context *)context); }}

SHOWN const char *{name}_message(void) {{ return dlc_native_message(); }}
"""
    if interface.makes_memory:
        yield f"\nSHOWN void {name}_release(void *memory) {{ dlc_native_release(memory); }}\n"
    yield from _run(interface)


def _arena_functions(interface: CInterface) -> Iterator[str]:
    name, upper = interface.name, interface.name.upper()
    given = ", ".join(f"inputs->{tensor.field}" for tensor in interface.inputs) or "0"
    results = ", ".join(f"outputs->{tensor.field}" for tensor in interface.outputs) or "0"
    unused = "".join(f"  (void){kind};\n" for kind in ("inputs", "outputs") if not getattr(interface, kind))
    yield f"""
{name}_status {name}_init(void *arena, size_t bytes, {name}_context **context) {{
  return ({name}_status)dlc_c_runtime_init(&{name}_{MODEL}, arena, bytes, {upper}_ARENA_BYTES, (dlc_c_runtime_context **)context);
}}

{name}_status {name}_run({name}_context *context, const {name}_inputs *inputs, {name}_outputs *outputs) {{
  const void *const given[] = {{{given}}};
  void *const results[] = {{{results}}};
{unused}  return ({name}_status)dlc_c_runtime_run((dlc_c_runtime_context *)context, given, results);
}}

const char *{name}_message(void) {{ return dlc_c_runtime_message(); }}
"""


def _run(interface: CInterface) -> Iterator[str]:
    name = interface.name
    given = ", ".join(f"inputs->{tensor.field}" for tensor in interface.inputs) or "0"
    sizes = ", ".join(f"inputs->{field}" for field in interface.size_fields) or "0"
    results = ", ".join(_result(tensor) for tensor in interface.outputs) or "{0}"
    yield f"""
SHOWN {name}_status {name}_run({name}_context *context, const {name}_inputs *inputs, {name}_outputs *outputs) {{
  const void *const given[] = {{{given}}};
  const int64_t sizes[] = {{{sizes}}};
  dlc_native_result results[] = {{{results}}};
"""
    if not interface.inputs:
        yield "  (void)inputs;\n"
    if not interface.outputs:
        yield "  (void)outputs;\n"
    yield f"  {name}_status status = ({name}_status)dlc_native_run((dlc_native_context *)context, given, sizes, results);\n"
    for number, tensor in enumerate(interface.outputs):
        if not tensor.is_known:
            yield f"  outputs->{tensor.field} = ({tensor.c_type} *)results[{number}].data;\n"
    yield "  return status;\n}\n"


def _result(tensor: CTensor) -> str:
    at = f"outputs->{tensor.field}"
    if tensor.is_known:
        return f"{{{at}, -1, NULL, 0}}"
    return f"{{{at}, {at}_room < 0 ? 0 : {at}_room * {tensor.spec.numpy_dtype.itemsize}, {at}_sizes, 1}}"
