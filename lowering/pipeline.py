"""Pipelines as objects: parse, build, print, edit and run ordered lists of passes.

    pipeline = Pipeline.parse("builtin.module(dl-bind-params, func.func(cse))")
    pipeline.append("canonicalize{max-iterations=3}")
    pipeline.run(module, stop_after="cse")

Python passes, upstream's passes, named pipelines and nested anchors mix freely. Names, options and anchors are checked
when an element enters a pipeline, before anything runs.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Union

from dlc._mlir import ir
from dlc.diagnostics import did_you_mean
from dlc.errors import PassError
from dlc.lowering.native import kept_managers
from dlc.lowering.pass_base import Pass
from dlc.lowering.pipeline_elements import NativePass, resolve
from dlc.lowering.pipeline_run import Instrument, PipelineRun, verify_result
from dlc.lowering.pipeline_text import PipelineNode, PipelineSource, parse_nodes
from dlc.lowering.pipelines import PIPELINES, STAGES, NamedPipeline, passes_between
from dlc.lowering.policy import policy_of, using
from dlc.lowering.registry import plugin_passes

ROOT = "builtin.module"

Element = Union[Pass, NativePass, "Pipeline"]
Given = Union[Pass, NativePass, "Pipeline", str]
"""What may be put into a pipeline: a pass, a pipeline on a nested op, or pipeline text."""


class Pipeline:
    """An ordered list of elements that run on ops called `anchor`; see the module docstring."""

    def __init__(self, elements: Iterable[Given] = (), anchor: str = ROOT) -> None:
        self.anchor = anchor
        self._elements: list[Element] = []
        for element in elements:
            self.append(element)

    @classmethod
    def parse(cls, text: str, source_name: str = "<pipeline>", anchor: str = ROOT) -> Pipeline:
        """Read pipeline text, with or without the outer `builtin.module(...)`; `PassError` locates what is wrong in it."""
        source = PipelineSource(text, source_name)
        nodes = parse_nodes(source)
        if len(nodes) == 1 and nodes[0].children is not None and nodes[0].name in (anchor, "any"):
            nodes = nodes[0].children
        return cls(_elements(nodes, anchor, source), anchor)

    @classmethod
    def between(
        cls, start: str, end: str, levels: Sequence[str] = STAGES, pipelines: Mapping[str, NamedPipeline] = PIPELINES
    ) -> Pipeline:
        """The passes from `start` up to `end`, each of which is one of `levels` or a named stage between two of them.

        It is empty when they are the same; `PassError` for an unknown name, and where `end` comes first.
        """
        return cls(passes_between(start, end, levels, pipelines))

    # Reading.

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(str(element) for element in self._elements)})"

    def __repr__(self) -> str:
        return f"Pipeline.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pipeline):
            return NotImplemented
        return self.anchor == other.anchor and self._elements == other._elements

    __hash__ = None  # type: ignore[assignment]  # a pipeline can be edited

    def __len__(self) -> int:
        return len(self._elements)

    def __iter__(self) -> Iterator[Element]:
        return iter(tuple(self._elements))

    def __getitem__(self, where: int | str) -> Element:
        owner, index = self._locate(where)
        return owner._elements[index]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.names()

    def names(self) -> list[str]:
        """Names of all passes in order of running, those of nested anchors included."""
        nested = (item.names() if isinstance(item, Pipeline) else [item.name()] for item in self._elements)
        return [name for names in nested for name in names]

    def is_native(self) -> bool:
        """True when all passes are upstream's, and no nested pipeline is empty, which upstream's parser does not know."""
        nested = (item for item in self if isinstance(item, Pipeline))
        return all(isinstance(item, (NativePass, Pipeline)) for item in self) and all(
            item.names() and item.is_native() for item in nested
        )

    def index(self, name: str) -> int:
        """Position of the first element that is the pass `name`, the anchor `name`, or holds it."""
        for position, element in enumerate(self._elements):
            if _is_called(element, name) or (isinstance(element, Pipeline) and name in element):
                return position
        names = self.names()
        hint = did_you_mean(name, names) or f" (passes: {', '.join(names) or 'none'})"
        raise PassError(f"the pipeline has no pass '{name}'{hint}")

    # Editing. `where` is a position or the name of a pass, which may stand inside a nested anchor.

    def append(self, element: Given) -> None:
        """Add at the end; `PassError` when the element does not exist or does not fit the anchor."""
        self._elements += self._checked(element)

    def insert(self, where: int | str, element: Given) -> None:
        """Add before `where`."""
        owner, index = self._locate(where, end=True)
        owner._elements[index:index] = owner._checked(element)

    def insert_after(self, where: int | str, element: Given) -> None:
        """Add after `where`."""
        owner, index = self._locate(where)
        owner._elements[index + 1 : index + 1] = owner._checked(element)

    def replace(self, where: int | str, element: Given) -> None:
        """Put another element in the place of `where`."""
        owner, index = self._locate(where)
        owner._elements[index : index + 1] = owner._checked(element)

    def remove(self, where: int | str) -> None:
        """Take the element at `where` out, and the nested anchor that it leaves empty."""
        owner, index = self._locate(where)
        del owner._elements[index]
        if not owner and owner is not self:
            self._drop(owner)

    def turn_on(self, option: str) -> None:
        """Set the switch `option` of every pass that has it, in nested anchors too."""
        for index, element in enumerate(self._elements):
            if isinstance(element, Pipeline):
                element.turn_on(option)
            elif isinstance(element, Pass) and hasattr(element, option):
                self._elements[index] = dataclasses.replace(element, **{option: True})

    def _drop(self, empty: Pipeline) -> None:
        self._elements = [element for element in self._elements if element is not empty]
        for element in self._elements:
            if isinstance(element, Pipeline):
                element._drop(empty)

    def _checked(self, element: Given) -> list[Element]:
        if isinstance(element, str):
            read = _read_elements.__wrapped__ if plugin_passes() else _read_elements  # plugins can give names another meaning
            return [_editable(found) for found in read(element, self.anchor)]
        if isinstance(element, Pipeline):
            return list(element) if element.anchor == self.anchor else [element]
        text = str(element)
        wanted = element.anchor if isinstance(element, Pass) else self._native_anchor(element)
        return [_anchored(element, wanted, self.anchor, 0, PipelineSource(text))]

    def _native_anchor(self, element: NativePass) -> str:
        source = PipelineSource(str(element))
        return resolve(parse_nodes(source)[0], self.anchor, source).anchor

    def _locate(self, where: int | str, end: bool = False) -> tuple[Pipeline, int]:
        if isinstance(where, int):
            limit = len(self._elements) + end
            if not -len(self._elements) <= where < limit:
                raise PassError(f"position {where} is outside a pipeline of {len(self._elements)} elements")
            return self, where
        index = self.index(where)
        element = self._elements[index]
        if isinstance(element, Pipeline) and not _is_called(element, where):
            return element._locate(where)
        return self, index

    # Running.

    def until(self, name: str) -> Pipeline:
        """This pipeline cut off after the first pass (or anchor) called `name`."""
        index = self.index(name)
        last = self._elements[index]
        if isinstance(last, Pipeline) and not _is_called(last, name):
            last = last.until(name)
        cut = Pipeline((), self.anchor)
        cut._elements = [*self._elements[:index], last]
        return cut

    def run(
        self,
        module: ir.Module | ir.Operation,
        *,
        stop_after: str | None = None,
        verify: bool = True,
        verify_each: bool = True,
        instruments: Sequence[Instrument] = (),
    ) -> None:
        """Run on a module in place, up to and with the pass `stop_after`; `PassError` locates what failed.

        The IR is verified after each pass, or at the end only without `verify_each`, unless `verify` is off: on a graph the
        verifier takes as long as the graph passes. Instruments see each pass on each op on its own.
        """
        op = module.operation
        if op.name != self.anchor:
            raise PassError(f"a pipeline on '{self.anchor}' can't run on '{op.name}'")
        chosen = self.until(stop_after) if stop_after else self
        with using(policy_of(op)), kept_managers(op.context):
            PipelineRun(op, verify and verify_each, instruments).run(op, (op.name,), chosen._elements)
        if verify and not verify_each:
            verify_result(op)


@functools.lru_cache(maxsize=512)
def _read_elements(text: str, anchor: str) -> tuple[Element, ...]:
    """What `text` says on `anchor`. Passes never change; pipelines are the caller's after a copy."""
    source = PipelineSource(text)
    return tuple(_elements(parse_nodes(source), anchor, source))


def _editable(element: Element) -> Element:
    """The element itself where nothing can change it, else a copy."""
    if not isinstance(element, Pipeline):
        return element
    copy = Pipeline((), element.anchor)
    copy._elements = [_editable(inner) for inner in element._elements]
    return copy


def _is_called(element: Element, name: str) -> bool:
    return name == (element.anchor if isinstance(element, Pipeline) else element.name())


def _elements(nodes: Sequence[PipelineNode], anchor: str, source: PipelineSource) -> list[Element]:
    found: list[Element] = []
    for node in nodes:
        if node.children is not None:
            found.append(_nested(node, anchor, source))
        elif node.name in PIPELINES:
            found += _named(node, anchor, source)
        else:
            resolved = resolve(node, anchor, source)
            found.append(_anchored(resolved.element, resolved.anchor, anchor, node.offset, source))
    return found


def _nested(node: PipelineNode, anchor: str, source: PipelineSource) -> Pipeline:
    assert node.children is not None
    if "." not in node.name and node.name != "any":
        raise source.error(node.offset, f"'{node.name}(...)' is no op; write options in braces: {node.name}{{a=b}}")
    nested = Pipeline((), node.name)
    nested._elements = _elements(node.children, node.name, source)
    return nested


def _named(node: PipelineNode, anchor: str, source: PipelineSource) -> list[Element]:
    if node.options:
        raise source.error(node.options_offset, f"pipeline '{node.name}' takes no options")
    if anchor != ROOT:
        raise source.error(node.offset, f"pipeline '{node.name}' runs on '{ROOT}', not on '{anchor}'")
    name = f"<pipeline {node.name}>"
    return [element for text in PIPELINES[node.name].passes for element in Pipeline.parse(text, name)]


def _anchored(element: Pass | NativePass, wanted: str, anchor: str, offset: int, source: PipelineSource) -> Element:
    """The element as it fits a pipeline on `anchor`: in a module, a pass on another op is nested, as mlir-opt does."""
    if wanted in ("", anchor):
        return element
    if anchor != ROOT:
        raise source.error(offset, f"pass '{element.name()}' runs on '{wanted}', not on '{anchor}'")
    nested = Pipeline((), wanted)
    nested._elements = [element]
    return nested
