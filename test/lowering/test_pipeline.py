"""Pipelines as objects: text, editing, checks before running, running, instruments."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.errors import PassError
from dlc.lowering.options import OptionSyntaxError, parse_options
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipeline_elements import NativePass, native_options
from dlc.lowering.pipeline_run import Instrument, Step
from dlc.lowering.pipelines import PIPELINES, STAGES
from dlc.lowering.registry import native_passes, passes

SOURCE = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
func.func @g() { return }
"""


@dataclass(frozen=True)
class Mark(Pass):
    """Set an attribute on each function."""

    anchor = "func.func"
    pass_name = "test-mark"

    text: str = option("x", "value")
    levels: tuple[int, ...] = option((), "numbers")
    names: tuple[str, ...] = option(("a",), "names")
    limit: float | None = option(1.0, "limit")

    def run(self, op: ir.Operation) -> None:
        op.attributes["test.mark"] = ir.StringAttr.get(self.text)


@dataclass(frozen=True)
class Refuse(Pass):
    """Refuse every module."""

    pass_name = "test-refuse"

    def run(self, op: ir.Operation) -> None:
        raise PassFailure(op, "needs nothing", "give it nothing")


@dataclass(frozen=True)
class Raise(Pass):
    """Raise what no pass should."""

    pass_name = "test-raise"

    def run(self, op: ir.Operation) -> None:
        raise KeyError("missing")


@dataclass(frozen=True)
class Break(Pass):
    """Take the terminator of the first function away."""

    pass_name = "test-break"

    def run(self, op: ir.Operation) -> None:
        function = op.regions[0].blocks[0].operations[0]
        function.regions[0].blocks[0].operations[3].erase()


@dataclass
class Log(Instrument):
    """Remember the hooks that ran."""

    events: list[str] = field(default_factory=list)

    def before(self, step: Step) -> None:
        symbol = step.op.attributes["sym_name"].value if "sym_name" in step.op.attributes else "module"
        self.events.append(f"{step.pipeline_text()} on {symbol}")

    def failed(self, step: Step, error: PassError) -> None:
        self.events.append(f"failed {step.name}")


@pytest.fixture
def module() -> ir.Module:
    return ir.Module.parse(SOURCE, make_context())


NATIVE = ["canonicalize", "cse", "symbol-dce", "canonicalize{max-iterations=3 top-down=false}", "sccp"]
ELEMENTS = st.sampled_from([*NATIVE, *(entry.name for entry in passes().values() if not entry.options())])
NESTED = st.lists(st.sampled_from(["cse", "canonicalize", "affine-loop-tile{tile-sizes=4,4}"]), max_size=3).map(
    lambda names: Pipeline(names, "func.func")
)


@given(st.lists(st.one_of(ELEMENTS, NESTED), max_size=6))
def test_text_round_trips(elements):
    pipeline = Pipeline(elements)
    again = Pipeline.parse(str(pipeline))
    assert again == pipeline
    assert str(again) == str(pipeline)


# MLIR's option syntax has no way to write both kinds of quotes, or an empty item at the end of a list.
WORDS = st.text("ab c,='{}[]\\")


@given(text=WORDS, levels=st.lists(st.integers(-5, 5)), names=st.lists(WORDS), limit=st.none() | st.floats(0, 1))
def test_options_of_a_pass_round_trip(text, levels, names, limit):
    original = Mark(text=text, levels=tuple(levels), names=tuple(names), limit=limit)
    assert Mark.from_options(parse_options(original.options_text())) == original


@given(st.text("cse,(){}=\"' a.\n", max_size=20))
def test_any_text_parses_or_is_located(text):
    try:
        Pipeline.parse(text)
    except PassError as error:
        assert error.diagnostics[0].line >= 1 and error.diagnostics[0].column >= 1


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "the pipeline is empty"),
        ("cse,,cse", 5, "expected the name of a pass"),
        ("func.func(cse", 10, "this '(' is never closed"),
        ("func.func(cse}", 14, "expected ',' or ')'"),
        ("cse{a=1", 4, "this '{' is never closed"),
        ("cse)", 4, "expected ',' or the end, found ')'"),
        ("cse, canonicalise", 6, "no pass is called 'canonicalise'; did you mean 'canonicalize'?"),
        ("dl-bind-param", 1, "did you mean 'dl-bind-params'?"),
        ("canonicalize{top-dwn=true}", 14, "has no option 'top-dwn'; did you mean 'top-down'?"),
        ("canonicalize{max-iterations=x}", 14, "unfit value for option 'max-iterations'"),
        ("dl-bind-params{a=1}", 16, "pass 'dl-bind-params' has no option 'a' (options: none)"),
        ("cse(cse)", 1, "is no op; write options in braces"),
        ("func.func(one-shot-bufferize)", 11, "runs on 'builtin.module', not on 'func.func'"),
        ("func.func(dl-to-linalg)", 11, "runs on 'builtin.module', not on 'func.func'"),
        ("dl-to-linalg{a=1}", 14, "pipeline 'dl-to-linalg' takes no options"),
    ],
)
def test_errors_are_located_before_anything_runs(text, column, message):
    with pytest.raises(PassError) as caught:
        Pipeline.parse(text)
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.line, diagnostic.column) == (1, column)
    assert message in diagnostic.message


def test_error_on_a_later_line():
    with pytest.raises(PassError, match=r"<pipeline>:2:3: error: no pass is called 'nosuch'\n  nosuch\)\n  \^"):
        Pipeline.parse("builtin.module(cse,\n  nosuch)")


def test_repeated_option():
    with pytest.raises(OptionSyntaxError, match="'a' is given twice"):
        parse_options("a=1 a=2")


def test_options_keep_quotes_and_braces_together():
    assert parse_options('a="b c" d={e f} g h=1,2') == {"a": '"b c"', "d": "{e f}", "g": "", "h": "1,2"}


def test_a_pass_on_functions_is_nested_by_itself():
    assert str(Pipeline([Mark(), "affine-loop-tile"])) == "builtin.module(func.func(test-mark),func.func(affine-loop-tile))"


def test_editing_by_name_and_position():
    pipeline = Pipeline(["cse", "func.func(canonicalize,sccp)"])
    pipeline.append("symbol-dce")
    pipeline.insert("cse", "inline")
    pipeline.insert_after("canonicalize", "cse")
    pipeline.replace("sccp", "canonicalize{top-down=false}")
    assert str(pipeline) == ("builtin.module(inline,cse,func.func(canonicalize,cse,canonicalize{top-down=false}),symbol-dce)")
    assert pipeline.names() == ["inline", "cse", "canonicalize", "cse", "canonicalize", "symbol-dce"]
    assert pipeline.index("symbol-dce") == 3 and pipeline.index("canonicalize") == 2
    assert pipeline["cse"] == NativePass("cse") and "inline" in pipeline and "nosuch" not in pipeline
    pipeline.remove(0)
    pipeline.remove("func.func")
    assert [str(element) for element in pipeline] == ["cse", "symbol-dce"]


def test_removing_the_last_pass_of_an_anchor_removes_the_anchor():
    pipeline = Pipeline([Mark(), "cse"])
    pipeline.remove("test-mark")
    assert str(pipeline) == "builtin.module(cse)"


def test_unknown_names_in_edits():
    pipeline = Pipeline(["cse"])
    with pytest.raises(PassError, match="the pipeline has no pass 'csse'; did you mean 'cse'"):
        pipeline.remove("csse")
    with pytest.raises(PassError, match="position 3 is outside a pipeline of 1 elements"):
        pipeline.replace(3, "cse")


def test_run_mixes_python_and_native_passes(module):
    Pipeline(["cse", Mark(text="seen"), "func.func(canonicalize)"]).run(module)
    text = str(module)
    assert text.count("arith.addi") == 1 and text.count('test.mark = "seen"') == 2


def test_stop_after_a_nested_pass(module):
    pipeline = Pipeline([Pipeline(["cse", Mark(), "sccp"], "func.func"), Refuse()])
    pipeline.run(module, stop_after="test-mark")
    assert str(module).count("test.mark") == 2
    assert str(pipeline.until("cse")) == "builtin.module(func.func(cse))"
    with pytest.raises(PassError, match="has no pass 'nosuch'"):
        pipeline.run(module, stop_after="nosuch")


def test_instruments_see_each_pass_on_each_op(module):
    log = Log()
    with pytest.raises(PassError):
        Pipeline(["cse", "func.func(sccp)", Mark(), Refuse()]).run(module, instruments=[log])
    assert log.events == [
        "builtin.module(cse) on module",
        "builtin.module(func.func(sccp)) on f",
        "builtin.module(func.func(sccp)) on g",
        "builtin.module(func.func(test-mark)) on f",
        "builtin.module(func.func(test-mark)) on g",
        "builtin.module(test-refuse) on module",
        "failed test-refuse",
    ]


def test_a_refusal_is_located(module):
    with pytest.raises(PassError, match=r"pass 'test-refuse' failed\n.*error: needs nothing; give it nothing"):
        Pipeline([Refuse()]).run(module)


def test_an_exception_is_an_internal_error_with_its_cause(module):
    with pytest.raises(PassError, match="internal error in pass 'test-raise': KeyError: 'missing'") as caught:
        Pipeline([Raise()]).run(module)
    assert isinstance(caught.value.__cause__, KeyError)


def test_the_verifier_runs_after_python_passes(module):
    with pytest.raises(PassError, match="pass 'test-break' left IR that does not verify"):
        Pipeline([Break()]).run(module)


def test_the_verifier_may_wait_for_the_end(module):
    log = Log()
    with pytest.raises(PassError, match="the pipeline left IR that does not verify"):
        Pipeline([Break(), Mark()]).run(module, verify_each=False, instruments=[log])
    assert not any(event.startswith("failed") for event in log.events)


def test_a_failing_native_pass_is_located():
    module = ir.Module.parse("\nmodule {}", make_context())
    message = "pass 'transform-interpreter' failed\n-:2:1: error: could not find a nested named sequence"
    with pytest.raises(PassError, match=message):
        Pipeline(["transform-interpreter"]).run(module)


def test_wrong_root(module):
    with pytest.raises(PassError, match=r"a pipeline on 'func\.func' can't run on 'builtin\.module'"):
        Pipeline(["cse"], "func.func").run(module)


def test_stages():
    assert len(Pipeline.between("dl", "dl")) == 0
    assert Pipeline.between("dl", "affine").names()[0] == Pipeline.parse("dl-to-linalg").names()[0]
    with pytest.raises(PassError, match="no stage is called 'gpu'"):
        Pipeline.between("dl", "gpu")
    with pytest.raises(PassError, match="can't go back from stage 'llvm' to stage 'dl'"):
        Pipeline.between("llvm", "dl")
    assert {f"{first}-to-{second}" for first, second in pairwise(STAGES)} <= set(PIPELINES)


@pytest.mark.parametrize("name", PIPELINES)
def test_named_pipelines_resolve_and_round_trip(name):
    pipeline = Pipeline.parse(name)
    assert Pipeline.parse(str(pipeline)) == pipeline


@pytest.mark.parametrize("anchor", ["", "func.func"])
def test_listed_native_passes_exist_and_nest_as_listed(anchor):
    listed = [name for name, wanted in native_passes().items() if wanted == anchor]
    assert listed
    wrong = []
    for name in listed:
        try:
            text = str(Pipeline.parse(f"builtin.module({name})"))
        except PassError as error:
            text = str(error)
        if "no pass is called" in text or f"{anchor}(" not in text:
            wrong.append(name)
    assert wrong == []


def test_native_options_are_known():
    assert "max-iterations" in native_options("canonicalize")
