"""What dlc-opt watches passes with: IR printing to standard error or to a tree of files, and timing."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dlc.diagnostics import Diagnostic
from dlc.errors import InvalidInputError
from dlc.lowering.pipeline_run import Instrument, Step
from dlc.tools.opt_options import OptOptions

if TYPE_CHECKING:
    from dlc._mlir import ir
    from dlc.errors import PassError
    from dlc.lowering.pass_base import Pass
    from dlc.lowering.pipeline_elements import NativePass


def assembly(op: ir.Operation, options: OptOptions) -> bytes:
    """The op's text as the printing flags want it, with a newline at the end."""
    text: bytes = op.get_asm(
        binary=True,
        large_elements_limit=options.mlir_elide_elementsattrs_if_larger,
        large_resource_limit=options.mlir_elide_resource_strings_if_larger,
        enable_debug_info=options.mlir_print_debuginfo,
        print_generic_op_form=options.mlir_print_op_generic,
        use_local_scope=options.mlir_print_local_scope,
        skip_regions=options.mlir_print_skip_regions,
    )
    return text if text.endswith(b"\n") else text + b"\n"


def prints_ir(options: OptOptions) -> bool:
    """True when a flag asks for the IR between passes."""
    return bool(
        options.mlir_print_ir_before
        or options.mlir_print_ir_after
        or options.mlir_print_ir_before_all
        or options.mlir_print_ir_after_all
        or options.mlir_print_ir_after_change
        or options.mlir_print_ir_after_failure
        or options.mlir_print_ir_tree_dir
    )


class IRPrinter(Instrument):
    """Prints the IR around passes under headers like `// -----// IR Dump After cse //----- //`.

    With `--mlir-print-ir-tree-dir` each dump is a file instead: `<root>/<anchor>_<symbol>/<counts>_<pass>.mlir`.
    """

    def __init__(self, options: OptOptions) -> None:
        self.options = options
        self._texts: list[bytes] = []
        self._counts: Counter[tuple[str, ...]] = Counter()

    def before(self, step: Step) -> None:
        if self.options.mlir_print_ir_after_change:
            self._texts.append(self._text(step))
        if self.options.mlir_print_ir_before_all or step.name in self.options.mlir_print_ir_before:
            self._print(f"IR Dump Before {step.name}", step)

    def after(self, step: Step) -> None:
        changed = not self._texts or self._texts.pop() != self._text(step)
        if changed and self._wants_after(step) and not self.options.mlir_print_ir_after_failure:
            self._print(f"IR Dump After {step.name}", step)

    def failed(self, step: Step, error: PassError) -> None:
        self._texts.clear()
        if self._wants_after(step):
            self._print(f"IR Dump After {step.name} Failed", step)

    def _wants_after(self, step: Step) -> bool:
        options = self.options
        if options.mlir_print_ir_after:
            return step.name in options.mlir_print_ir_after
        if options.mlir_print_ir_after_all or options.mlir_print_ir_after_change or options.mlir_print_ir_after_failure:
            return True
        before = options.mlir_print_ir_before or options.mlir_print_ir_before_all
        return bool(options.mlir_print_ir_tree_dir and not before)

    def _text(self, step: Step) -> bytes:
        return assembly(step.root if self.options.mlir_print_ir_module_scope else step.op, self.options)

    def _print(self, title: str, step: Step) -> None:
        if self.options.mlir_print_ir_module_scope:
            symbol = _symbol(step.op)
            title += f" ('{step.op.name}' operation{f': @{symbol}' if symbol else ''})"
        text = f"// -----// {title} //----- //\n".encode() + self._text(step) + b"\n"
        if self.options.mlir_print_ir_tree_dir is None:
            sys.stderr.write(text.decode())
            sys.stderr.flush()
            return
        file = self._tree_file(Path(self.options.mlir_print_ir_tree_dir), step)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InvalidInputError("", [Diagnostic("error", reason, str(file))]) from None

    def _tree_file(self, root: Path, step: Step) -> Path:
        """The file for the next dump of this op; the counts are those of the ops around it, then its own."""
        folders: tuple[str, ...] = ()
        counts = []
        for op in _from_root(step.op):
            folders += (_folder(op),)
            counts.append(str(self._counts[folders]))
        self._counts[folders] += 1
        return root.joinpath(*folders, f"{'_'.join(counts)}_{step.name}.mlir")


def _from_root(op: ir.Operation) -> list[ir.Operation]:
    path = [op]
    while path[0].parent is not None:
        path.insert(0, path[0].parent.operation)
    return path


def _symbol(op: ir.Operation) -> str:
    return str(op.attributes["sym_name"].value) if "sym_name" in op.attributes else ""


def _folder(op: ir.Operation) -> str:
    return re.sub(r"[^\w\-]", "_", f"{op.name}_{_symbol(op) or 'no-symbol-name'}")


@dataclass
class _Row:
    element: Pass | NativePass
    anchors: tuple[str, ...]
    seconds: float = 0.0


@dataclass
class Timing(Instrument):
    """Wall time of each pass, and of reading and printing; `report` is a table like that of --mlir-timing."""

    as_list: bool = False
    """Whether passes come one after the other, longest first, each name once."""
    begin: float = field(default_factory=time.perf_counter)
    phases: dict[str, float] = field(default_factory=dict)
    _rows: list[_Row] = field(default_factory=list)
    _started: float = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what runs inside as one row."""
        begin = time.perf_counter()
        yield
        self.phases[name] = self.phases.get(name, 0.0) + time.perf_counter() - begin

    def before(self, step: Step) -> None:
        self._started = time.perf_counter()

    def after(self, step: Step) -> None:
        elapsed = time.perf_counter() - self._started
        row = next((row for row in self._rows if row.element is step.element and row.anchors == step.anchors), None)
        if row is None:
            row = _Row(step.element, step.anchors)
            self._rows.append(row)
        row.seconds += elapsed

    def failed(self, step: Step, error: PassError) -> None:
        self.after(step)

    def report(self) -> str:
        """The table, with the share of each row."""
        total = time.perf_counter() - self.begin
        phases = dict(self.phases)
        lines = [("Parser", phases.pop("Parser", 0.0)), *self._pass_lines(), *phases.items()]
        known = sum(self.phases.values()) + sum(row.seconds for row in self._rows)
        lines += [("Rest", total - known), ("Total", total)]
        bar = f"===-{'-' * 73}-==="
        head = [bar, "... Execution time report ...".center(len(bar)).rstrip(), bar]
        head += [f"  Total Execution Time: {total:.4f} seconds", "", "  ----Wall Time----  ----Name----"]
        rows = [f"  {seconds:8.4f} ({100 * seconds / total:5.1f}%)  {name}" for name, seconds in lines]
        return "\n".join([*head, *rows])

    def _pass_lines(self) -> Iterator[tuple[str, float]]:
        """The passes in order of running, those on a nested op indented below a line for their anchor; or as a list."""
        if self.as_list:
            yield from self._listed()
            return
        position = 0
        while position < len(self._rows):
            group = _leading_group(self._rows[position:])
            nested = group[0].anchors[1:]
            for depth, anchor in enumerate(nested):
                yield f"{'  ' * depth}'{anchor}' Pipeline", sum(row.seconds for row in group)
            for row in group:
                yield f"{'  ' * len(nested)}{row.element.name()}", row.seconds
            position += len(group)

    def _listed(self) -> list[tuple[str, float]]:
        seconds: dict[str, float] = {}
        for row in self._rows:
            seconds[row.element.name()] = seconds.get(row.element.name(), 0.0) + row.seconds
        return sorted(seconds.items(), key=lambda item: -item[1])


def _leading_group(rows: Sequence[_Row]) -> Sequence[_Row]:
    same = 1
    while same < len(rows) and rows[same].anchors == rows[0].anchors:
        same += 1
    return rows[:same]
