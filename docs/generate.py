"""Writes docs/generated/: the ops of the dl dialect, the ONNX ops that import into them, passes, pipelines, attributes, primitives.

python docs/generate.py           rewrite the pages
python docs/generate.py --check   exit with status 1 when a page is stale
"""

from __future__ import annotations

import dataclasses
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from attributes import attributes_page
from mlir_opt import mlir_opt_page
from onnx_ops import onnx_page
from primitives import primitives_page

from dlc.dialects.dl import ops
from dlc.dialects.dl.attributes import REQUIRED, ElementsAttr
from dlc.dialects.dl.base import FUSION_CLASSES, DLOp, ext
from dlc.lowering.dl_to_linalg.building.lowerings import lowerings
from dlc.lowering.pass_base import Pass
from dlc.lowering.pipelines import PIPELINES
from dlc.lowering.registry import PassEntry, passes

FOLDER = Path(__file__).parent / "generated"
_NOTE = "<!-- written by docs/generate.py; do not edit -->\n"


def pages() -> dict[str, str]:
    """Every generated page by file name."""
    return {
        "ops.md": "".join(_ops_page()),
        "onnx.md": "".join(onnx_page(_NOTE)),
        "passes.md": "".join(_passes_page()),
        "attributes.md": "".join(attributes_page(_NOTE)),
        "primitives.md": "".join(primitives_page(_NOTE)),
        "mlir_opt.md": "".join(mlir_opt_page(_NOTE)),
    }


def _ops_page() -> Iterator[str]:
    yield f"{_NOTE}# Ops of the dl dialect\n\n"
    families: dict[str, list[tuple[str, type[DLOp]]]] = defaultdict(list)
    for name, op in ops().items():
        families[op.__module__.rpartition(".")[2]].append((name, op))
    for family, members in sorted(families.items()):
        links = ", ".join(f"[{name}](#dl{name})" for name, _ in sorted(members))
        yield f"- **{family}**: {links}\n"
    yield from _fusion_table()
    for family, members in sorted(families.items()):
        yield f"\n## {family}\n"
        for name, op in sorted(members):
            yield from _op_section(name, op)


def _fusion_table() -> Iterator[str]:
    """What each fusion class means, and the ops that are of it; elementwise ones are set in italics."""
    yield "\n## Fusion classes\n\nHow an op depends on its operands decides what it may share a kernel with. "
    yield "Elementwise ops are in italics.\n\n"
    yield "| class | meaning | ops |\n|---|---|---|\n"
    for kind, meaning in FUSION_CLASSES.items():
        members = sorted((name, op) for name, op in ops().items() if op.fusion_class == kind)
        shown = ", ".join(f"*{name}*" if op.is_elementwise else name for name, op in members)
        yield f"| {kind} | {meaning} | {shown} |\n"


def _op_section(name: str, op: type[DLOp]) -> Iterator[str]:
    yield f"\n### dl.{name}\n\n```text\n{_docstring(op)}\n```\n\n"
    for operand in op.operand_fields:
        kind = {ext.Variadicity.optional: "optional", ext.Variadicity.variadic: "variadic"}.get(operand.variadicity, "")
        accepted = op.accepted_dtypes(operand.name)
        yield f"- operand `{operand.name}`{f' ({kind})' if kind else ''}: {', '.join(accepted)}\n"
    for key, attribute in op.attribute_fields.items():
        default = "required" if attribute.default is REQUIRED else f"default `{_shown(attribute)}`"
        doc = f": {attribute.doc}" if attribute.doc else ""
        yield f"- attribute `{key}` ({attribute.kind}, {default}){doc}\n"
    yield f"- fusion class: {op.fusion_class}{', elementwise' if op.is_elementwise else ''}\n"
    yield f"- lowering: {'`convert-dl-to-linalg`' if name in lowerings() else 'structural'}\n"


def _shown(attribute: object) -> str:
    default = getattr(attribute, "default", None)
    return "absent" if default is None or isinstance(attribute, ElementsAttr) else str(default).lower()


def _docstring(op: type) -> str:
    text = op.__doc__ or ""
    first, _, rest = text.partition("\n")
    return "\n".join([first, *(line.removeprefix("    ") for line in rest.split("\n"))]).strip()


def _passes_page() -> Iterator[str]:
    yield f"{_NOTE}# Passes\n\nEvery upstream MLIR pass is available too, by its own name.\n"
    folder = ""
    for entry in passes().values():
        if entry.folder != folder:
            folder = entry.folder
            yield f"\n## lowering/{folder}\n"
        yield from _pass_section(entry)
    yield "\n# Pipelines\n"
    for name, pipeline in PIPELINES.items():
        listing = "\n".join(f"  {text}" for text in pipeline.passes)
        yield f"\n## {name}\n\n{pipeline.summary}.\n\n```text\n{listing}\n```\n"


def _pass_section(entry: PassEntry) -> Iterator[str]:
    found = entry.load()
    yield f"\n### {entry.name}\n\nOn each `{found.anchor}`.\n\n```text\n{entry.docstring()}\n```\n"
    options = list(_options(found))
    if options:
        yield "\n| option | type | default | meaning |\n|---|---|---|---|\n"
        yield from options


def _options(found: type[Pass]) -> Iterator[str]:
    for field in dataclasses.fields(found):
        meaning = field.metadata.get("help", "")
        kind = str(field.type)
        yield f"| `{field.name.replace('_', '-')}` | `{kind.replace('|', chr(92) + '|')}` | `{field.default}` | {meaning} |\n"


def stale_pages() -> list[str]:
    """Names of pages whose files differ from what would be written."""
    found = []
    for name, text in pages().items():
        file = FOLDER / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            found.append(name)
    return found


def main() -> None:
    """Write the pages, or check them."""
    if "--check" in sys.argv[1:]:
        stale = stale_pages()
        if stale:
            sys.exit(f"stale: {', '.join(stale)}; run make docs")
        return
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
