"""What engines keep beside their code: the module after graph passes and the explanation, for any machine."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from engine_models import FEW, small_input, with_manifest, written

import dlc
from bench.networks import bert, gpt2, mlp, resnet18
from dlc.engines.kept_source import source_of_engine
from dlc.engines.reading import EngineFile
from dlc.engines.saving import read_manifest
from dlc.explanation import Explanation
from dlc.explanation_record import from_record, to_record

BOTH = ("ir", "explain")
_TEXT = {"seq": 16, "layers": 1, "hidden": 32, "heads": 2, "vocab": 50}
MODELS = {
    "bert": partial(bert.build, **_TEXT),
    "gpt2": partial(gpt2.build, context=24, dynamic_batch=True, **_TEXT),
    "resnet18": partial(resnet18.build, image=32, classes=7),
}


@pytest.fixture(scope="module")
def kept(model: dlc.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Code for two processors, one of them of another architecture, with all records."""
    file = tmp_path_factory.mktemp("records") / "kept.dlce"
    model.save(file, targets=["cpu:x86-64-v3", "cpu:neoverse-n1"], keep=BOTH)
    return file


def timeless(found: Explanation) -> Explanation:
    return replace(found, passes=tuple(replace(each, seconds=0.0) for each in found.passes))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("target", ["cpu:x86-64-v4", "gpu:sm_90"])
@pytest.mark.parametrize("name", MODELS)
def test_records_of_explanations_leave_nothing_out(name: str, target: str) -> None:
    found = dlc.explain(MODELS[name](), target=target)
    again = from_record(to_record(found))
    assert again == found
    assert (again.to_json(), again.to_dot()) == (found.to_json(), found.to_dot())


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:neoverse-n1"])
def test_explanation_is_that_of_the_model(kept: Path, target: str) -> None:
    found = EngineFile.read(kept).explanation(target)
    wanted = dlc.explain(mlp.build(widths=FEW, dynamic_batch=True), target=target)
    assert replace(found, name="") == replace(timeless(wanted), name="")


def test_first_target_is_the_default(kept: Path) -> None:
    engine = EngineFile.read(kept)
    assert engine.targets("explain") == ["cpu:x86-64-v3", "cpu:neoverse-n1"]
    assert engine.explanation() == engine.explanation("cpu:x86-64-v3")


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("separate", [False, True])
def test_kept_modules_compile_on(name: str, separate: bool, tmp_path: Path) -> None:
    model = dlc.compile(MODELS[name]())
    model.save(tmp_path / "m.dlce", separate_weights=separate, keep=["ir"])
    again = dlc.compile(tmp_path / "m.dlce")
    assert (again.inputs, again.outputs) == (model.inputs, model.outputs)
    inputs = dlc.random_inputs(model.inputs)
    for have, want in zip(again(inputs), model(inputs), strict=True):
        np.testing.assert_array_equal(have, want)


def test_kept_modules_of_bf16_compile_on(tmp_path: Path) -> None:
    model = dlc.compile(mlp.build(batch=64, widths=(256, 512, 256)), precision="bf16")
    model.save(tmp_path / "m.dlce", targets=["cpu:sapphirerapids"], keep=["ir"])
    source = source_of_engine(tmp_path / "m.dlce")
    assert any(name.endswith("bf16_pairs") for name in source.params)
    assert dlc.lower(source, "llvm") is not None


def test_weights_are_those_of_the_file(kept: Path, model: dlc.CompiledModel) -> None:
    source = source_of_engine(kept, "cpu:neoverse-n1")
    assert all(not array.flags.owndata for array in source.params.values())
    given = small_input()
    np.testing.assert_allclose(dlc.compile(source, "cpu:x86-64-v3")(given)[0], model(given)[0], rtol=1e-5, atol=1e-6)


def test_records_change_nothing_else(model: dlc.CompiledModel, engine_file: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        model.save(tmp_path / name, keep=BOTH)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    plain, more = (read_manifest(file.read_bytes())["variants"][0] for file in (engine_file, tmp_path / "one"))
    assert set(more) - set(plain) == {"records"} and more["code"]["sha256"] == plain["code"]["sha256"]
    np.testing.assert_array_equal(dlc.load(tmp_path / "one")(small_input())[0], model(small_input())[0])


@pytest.mark.parametrize("kind", BOTH)
def test_engines_without_records_say_how_to_get_them(engine_file: Path, kind: str) -> None:
    engine = EngineFile.read(engine_file)
    with pytest.raises(dlc.ParseError, match=rf"small\.dlce: error: .* keeps no '{kind}'; dlc compile --keep={kind} writes"):
        engine.explanation() if kind == "explain" else engine.ir()


def test_targets_without_records_are_refused(kept: Path) -> None:
    with pytest.raises(dlc.ParseError, match="no 'explain' for 'cpu:haswell'; it does for cpu:x86-64-v3, cpu:neoverse-n1"):
        EngineFile.read(kept).explanation("cpu:haswell")


def test_unknown_kinds_and_other_levels_are_refused(model: dlc.CompiledModel, tmp_path: Path) -> None:
    with pytest.raises(dlc.InvalidInputError, match="an engine keeps ir and explain, not 'text'"):
        model.save(tmp_path / "m.dlce", keep=["text"])
    lowered = dlc.compile(dlc.lower(mlp.build(widths=FEW), "linalg"), params=dlc.optimize(mlp.build(widths=FEW)).params)
    with pytest.raises(dlc.InvalidInputError, match="at level 'linalg', and engines keep what models at level 'dl' are"):
        lowered.save(tmp_path / "m.dlce", keep=["ir"])
    assert not list(tmp_path.iterdir())


def test_damage_is_found(kept: Path, tmp_path: Path) -> None:
    content = kept.read_bytes()
    numbers = np.random.default_rng(0)
    want = EngineFile.read(kept).explanation().to_json()
    records = [part for variant in read_manifest(content)["variants"] for part in variant["records"].values()]
    places = [part["offset"] + int(numbers.integers(part["size"])) for part in records for _ in range(20)]
    for place in [*places, *numbers.integers(len(content), size=60).tolist()]:
        broken = bytearray(content)
        broken[place] ^= 1 << int(numbers.integers(8))
        try:
            engine = EngineFile.read(written(tmp_path, bytes(broken)))
            assert engine.explanation().to_json() == want
            source_of_engine(engine.path)
        except dlc.ParseError as error:
            assert "damaged" in str(error) or "no engine" in str(error) or "format" in str(error)


@pytest.mark.parametrize(
    "change",
    [
        lambda records: records["explain"].update(bytes=7),
        lambda records: records["explain"].update(bytes=1 << 40),
        lambda records: records["explain"].update(offset=-1),
        lambda records: records["explain"].update(size="x"),
        lambda records: records.update(explain=records["ir"]),
        lambda records: records.update(explain=None),
    ],
)
def test_wrong_manifests_are_refused(kept: Path, tmp_path: Path, change: object) -> None:
    broken = with_manifest(kept.read_bytes(), lambda manifest: change(manifest["variants"][0]["records"]))  # type: ignore[operator]
    with pytest.raises(dlc.ParseError, match=r"changed\.dlce: error: "):
        EngineFile.read(written(tmp_path, broken)).explanation()


def test_other_weights_are_refused(tmp_path: Path) -> None:
    for seed, name in enumerate(("one", "other")):
        proto = mlp.build(widths=FEW)
        proto.graph.initializer[0].CopyFrom(
            onnx.numpy_helper.from_array(
                np.full_like(onnx.numpy_helper.to_array(proto.graph.initializer[0]), seed), proto.graph.initializer[0].name
            )
        )
        dlc.compile(proto).save(tmp_path / f"{name}.dlce", separate_weights=True, keep=["ir"])
    (tmp_path / "one.weights").unlink()
    with pytest.raises(dlc.ParseError, match=r"one\.weights: error: no such file"):
        source_of_engine(tmp_path / "one.dlce")
    (tmp_path / "other.weights").rename(tmp_path / "one.weights")
    with pytest.raises(dlc.ParseError, match=r"one\.weights: error: holds the weights of another engine"):
        source_of_engine(tmp_path / "one.dlce")
