"""Host functions against ONNX's reference evaluator and onnxruntime's meaning, and what they refuse."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from dlc.runtime.host.registry import HostNode, HostOpError, host_ops

ML = "ai.onnx.ml"
TEXTS = np.array(["a.b.c", "", "x", " y  z "], object)


def call(op: str, *values: Any, domain: str = "", outputs: int = 1, **attributes: Any) -> Any:
    """What the host function of an op gives."""
    return host_ops()[domain, op].function(HostNode(attributes, 21, outputs), *values)


def test_every_host_op_has_a_reason() -> None:
    assert all(op.reason and op.function.__doc__ for op in host_ops().values())


def test_strings_are_joined_and_cut() -> None:
    assert call("StringConcat", TEXTS[:2], np.array("!", object)).tolist() == ["a.b.c!", "!"]
    parts, counts = call("StringSplit", TEXTS, delimiter=".")
    assert parts.tolist() == [["a", "b", "c"], ["", "", ""], ["x", "", ""], [" y  z ", "", ""]]
    assert counts.tolist() == [3, 1, 1, 1]
    parts, counts = call("StringSplit", TEXTS[3:], maxsplit=1)
    assert (parts.tolist(), counts.tolist()) == ([["y", "z "]], [2])
    empty, counts = call("StringSplit", np.zeros((0, 2), object))
    assert (empty.shape, counts.shape) == ((0, 2, 0), (0, 2))


def test_regular_expressions_match_whole_strings() -> None:
    assert call("RegexFullMatch", TEXTS, pattern=r"[a-z](\.[a-z])*").tolist() == [True, False, True, False]
    with pytest.raises(HostOpError, match="no regular expression"):
        call("RegexFullMatch", TEXTS, pattern="(")


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        (np.array([1.5, np.inf, -np.inf, np.nan], np.float32), ["1.5", "INF", "-INF", "NaN"]),
        (np.array([-3, 7], np.int8), ["-3", "7"]),
        (np.array([True, False]), ["1", "0"]),
    ],
)
def test_casts_go_both_ways(numbers: np.ndarray, texts: list[str]) -> None:
    strings = call("Cast", numbers, to="string")
    assert strings.tolist() == texts
    np.testing.assert_array_equal(call("CastLike", strings, numbers), numbers)


@pytest.mark.parametrize(("text", "to"), [("x", "i64"), ("1_0", "i64"), ("300", "ui8"), ("-1", "ui8"), ("1_0", "f32")])
def test_text_that_is_no_number(text: str, to: str) -> None:
    with pytest.raises(HostOpError, match=f"'{text}' is no number of type"):
        call("Cast", np.array([text], object), to=to)


@pytest.mark.parametrize(("x", "to"), [(np.array([1j]), "f32"), (np.array(["1"], object), None)])
def test_casts_that_would_lose_something(x: np.ndarray, to: str | None) -> None:
    with pytest.raises(HostOpError, match="casts from"):
        call("Cast", x, to=to)


def test_words_in_normal_form() -> None:
    words = np.array(["Monday", "the", "DAY"], object)
    normal = {"case_change_action": "LOWER", "is_case_sensitive": 0, "stopwords": ["THE"]}
    assert call("StringNormalizer", words, **normal).tolist() == ["monday", "day"]
    assert call("StringNormalizer", words[1:2], **normal).tolist() == [""]
    with pytest.raises(HostOpError, match=r"give \[C\] or \[1, C\]"):
        call("StringNormalizer", np.zeros((2, 2), object))


def test_counts_of_n_grams() -> None:
    grams: dict[str, Any] = {
        "mode": "TF",
        "min_gram_length": 2,
        "max_gram_length": 2,
        "max_skip_count": 1,
        "ngram_counts": [0, 2],
        "ngram_indexes": [0, 1, 2, 3],
        "pool_strings": ["a", "b", "a", "b", "b", "c"],
    }
    row = np.array(["a", "b", "x", "c"], object)
    assert call("TfIdfVectorizer", row, **grams).tolist() == [0, 0, 1, 1]  # "b c" with a word between
    assert call("TfIdfVectorizer", row, **{**grams, "mode": "TFIDF", "weights": [1, 1, 2, 5]}).tolist() == [0, 0, 2, 5]


def test_negative_pads_cut_and_small_indices_take_a_part() -> None:
    assert call("Pad", TEXTS, np.array([1, -3])).tolist() == ["", "a.b.c"]
    grid = np.array([["a", "b"], ["c", "d"]], object)
    assert call("GatherElements", grid, np.array([[1], [0]]), axis=1).tolist() == [["b"], ["c"]]
    assert call("GatherElements", grid, np.array([[1]]), axis=1).tolist() == [["b"]]
    with pytest.raises(HostOpError, match="do not fit into"):
        call("GatherElements", grid, np.zeros((3, 1), np.int64), axis=1)


def test_sequences() -> None:
    one, two = np.ones(2, np.float32), np.zeros(3, np.float32)
    sequence = call("SequenceConstruct", one, two)
    assert call("SequenceLength", sequence) == 2
    assert call("SequenceAt", sequence, np.array(-1)) is two
    assert [each.shape for each in call("SequenceInsert", sequence, two, np.array(0))] == [(3,), (2,), (3,)]
    assert len(call("SequenceErase", sequence)) == 1
    assert len(sequence) == 2, "sequences are values"
    parts = call("SplitToSequence", np.arange(5), np.array(2))
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3], [4]]
    np.testing.assert_array_equal(call("ConcatFromSequence", parts, axis=0), np.arange(5))


@pytest.mark.parametrize(
    ("op", "values", "attributes", "message"),
    [
        ("SequenceAt", [[], np.array(0)], {}, "position 0 is not in a sequence of 0"),
        ("SequenceConstruct", [np.ones(1), np.ones(1, np.int64)], {}, "int64 cannot go into a sequence of float64"),
        ("SplitToSequence", [np.ones(5), np.array([2, 2])], {}, "make 4 together, but axis 0 has 5"),
        ("ConcatFromSequence", [[]], {"axis": 0}, "the sequence is empty"),
        ("ConcatFromSequence", [[np.ones(2), np.ones((2, 2))]], {"axis": 0}, "do not fit each other"),
        ("OptionalGetElement", [None], {}, "holds nothing"),
        ("Gather", [TEXTS, np.array([4])], {}, "index 4 is not in an axis of 4"),
        ("Reshape", [TEXTS, np.array([3])], {}, "not as many elements"),
        ("ImageDecoder", [np.zeros(4, np.uint8)], {}, "no image that Pillow reads"),
    ],
)
def test_what_is_refused(op: str, values: list[Any], attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(HostOpError, match=message):
        call(op, *values, **attributes)


def test_labels() -> None:
    table = {"keys_strings": ["a", "b"], "values_int64s": [3, 4], "default_int64": -7}
    assert call("LabelEncoder", np.array(["b", "?"], object), domain=ML, **table).tolist() == [4, -7]
    nan = {"keys_floats": [float("nan"), 1.0], "values_strings": ["nothing", "one"]}
    assert call("LabelEncoder", np.array([np.nan, 1], np.float32), domain=ML, **nan).tolist() == ["nothing", "one"]
    hot = call("OneHotEncoder", np.array(["b", "c"], object), domain=ML, cats_strings=["a", "b"])
    assert hot.tolist() == [[0, 1], [0, 0]]
    with pytest.raises(HostOpError, match="'c' is none of the categories"):
        call("OneHotEncoder", np.array(["c"], object), domain=ML, cats_strings=["a"], zeros=0)


def test_maps() -> None:
    scores = call("ZipMap", np.array([[0.25, 0.75]], np.float32), domain=ML, classlabels_strings=["no", "yes"])
    assert scores == [{"no": 0.25, "yes": 0.75}]
    row = call("DictVectorizer", {"b": 2, "z": 9}, domain=ML, string_vocabulary=["a", "b"])
    assert (row.tolist(), row.dtype) == ([[0, 2]], np.int64)
    assert call("CastMap", {2: 5.0}, domain=ML, map_form="SPARSE", max_map=3).tolist() == [[0, 0, 5]]


@pytest.mark.parametrize("order", ["RGB", "BGR", "Grayscale"])
def test_images(order: str) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 255, (4, 6, 3)).astype(np.uint8)
    file = io.BytesIO()
    image.fromarray(pixels).save(file, "PNG")
    found = call("ImageDecoder", np.frombuffer(file.getvalue(), np.uint8), pixel_format=order)
    expected = {"RGB": pixels, "BGR": pixels[:, :, ::-1]}.get(order)
    assert found.shape == (4, 6, 1 if order == "Grayscale" else 3)
    assert expected is None or np.array_equal(found, expected)
