"""Edits of MLIR text by its tokens and lines: what stands in one place is put into another, deleted, doubled or made extreme."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

from fuzz.byte_edits import NUMBERS, edited

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%@#!^]?[A-Za-z_][\w$.]*(?:<[^<>()\n]*(?:<[^<>\n]*>[^<>\n]*)*>)?|%\d+(?:#\d+)?|-?\d+(?:\.\d+(?:e[+-]?\d+)?)?'
    r"|->|::|==|>=|[^\w\s]|\s+"
)
_ELEMENT = re.compile(r"(?<=[x<])(?:ui8|i1|i4|i8|i16|i32|i64|f8\w+|f16|bf16|f32|f64|index)(?=[,>])")
_DIM = re.compile(r"(?<=[<x])(?:\d+|\?)(?=x)")
_ELEMENTS = (
    "f32",
    "f64",
    "f16",
    "bf16",
    "i1",
    "i4",
    "i8",
    "ui8",
    "i16",
    "i32",
    "i64",
    "index",
    "f8E4M3FN",
    "complex<f32>",
    "none",
    "i257",
)
_DIMS = ("0", "1", "2", "3", "7", "?", "4294967296", "4398046511104", "9223372036854775807")
_TYPES = (
    "f32",
    "i1",
    "index",
    "tensor<f32>",
    "tensor<?xf32>",
    "tensor<*xf32>",
    "memref<4xf32>",
    "memref<?xf32, strided<[?]>>",
    "()",
    "vector<4xf32>",
)
_SMALL_DIMS = ("0", "1", "2", "3", "5", "7", "16", "33", "?", "?")
_NUMBER = re.compile(r"(?<=[ (\[:=])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=[ ,\]})>])")
_UNARY = ("relu", "exp", "tanh", "neg", "abs", "sigmoid", "softmax", "erf", "sqrt", "floor", "not", "is_nan", "transpose", "cumsum")
_BINARY = ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "less", "equal", "and", "matmul", "gather", "concat", "expand")
_CONSISTENT = (
    (_DIM, _DIMS),
    (_DIM, _SMALL_DIMS),
    (_DIM, _SMALL_DIMS),
    (_ELEMENT, _ELEMENTS),
    (_NUMBER, tuple(map(str, (*NUMBERS[:9], *NUMBERS, 4, 6)))),
    (_NUMBER, ("0", "1", "2", "3", "-1", "4", "0.5", "1.0e+30", "-0.0")),
    (re.compile(r'(?<="dl\.)\w+(?=")'), (*_UNARY, *_BINARY)),
    (re.compile(r"(?<=arith\.)\w+"), ("addf", "mulf", "maximumf", "addi", "divsi", "cmpf", "select", "negf", "shli")),
)
Edit = Callable[[Random, list[str], Sequence[str]], None]


def tokens_of(text: str) -> list[str]:
    """Words, types, numbers, strings, signs and blanks; joined, they are the text."""
    return _TOKEN.findall(text)


def mutated(random: Random, text: str, other: str) -> bytes:
    """The text after one to five edits; `other` gives tokens. One in twelve is edited as bytes."""
    if random.random() < 0.08:
        return edited(random, text.encode(), other.encode())
    if random.random() < 0.4:
        return _everywhere(random, text).encode()
    if random.random() < 0.2:
        text = _line_edit(random, text, other)
    tokens, pool = tokens_of(text), tokens_of(other)
    for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
        if tokens:
            random.choice(_EDITS)(random, tokens, pool)
    return "".join(tokens).encode()


def _everywhere(random: Random, text: str) -> str:
    """One to three edits of all places where a size, an element type or an op stands: what comes out often parses."""
    for _ in range(random.choice((1, 1, 2, 3))):
        pattern, others = random.choice(_CONSISTENT)
        found = sorted(set(pattern.findall(text)))
        if not found:
            continue
        old, new = random.choice(found), random.choice((*others, random.choice(found)))
        text = pattern.sub(lambda match, old=old, new=new: new if match[0] == old else match[0], text)
    return text


def _line_edit(random: Random, text: str, other: str) -> str:
    lines = text.split("\n")
    index = random.randrange(len(lines))
    choice = random.randrange(6)
    if choice == 0:
        del lines[index]
    elif choice == 1:
        lines.insert(index, random.choice(lines))
    elif choice == 2:
        lines.insert(index, random.choice(other.split("\n")))
    elif choice == 3:
        second = random.randrange(len(lines))
        lines[index], lines[second] = lines[second], lines[index]
    elif choice == 4:
        return "module {\n" * (depth := random.choice((1, 2, 5, 60))) + text + "}\n" * depth
    else:
        lines = lines[:index]
    return "\n".join(lines)


def kind_of(token: str) -> str:
    """Tokens of one kind may stand for each other."""
    if token[0] in '%@#!^"':
        return token[0]
    if re.fullmatch(r"-?\d.*", token):
        return "number"
    if re.match(r"(?:tensor|memref|vector)<|[fi]\d+$|bf16$|index$|ui8$", token):
        return "type"
    return "word" if token[0].isalpha() else "blank" if token.isspace() else "sign"


@functools.lru_cache(maxsize=64)
def _by_kind(tokens: tuple[str, ...]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for token in tokens:
        found.setdefault(kind_of(token), []).append(token)
    return found


def _places(tokens: Sequence[str], *kinds: str) -> list[int]:
    return [index for index, token in enumerate(tokens) if kind_of(token) in kinds]


def _same_kind(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    """A token becomes another one of its kind, from this text or another one."""
    places = _places(tokens, "%", "@", "#", "!", '"', "number", "type", "word")
    if not places:
        return
    index = random.choice(places)
    source = _by_kind(tuple(pool if random.random() < 0.5 else tokens)).get(kind_of(tokens[index]))
    tokens[index] = random.choice(source or [tokens[index]])


def _number(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    places = _places(tokens, "number")
    if places:
        index = random.choice(places)
        value = random.choice((*map(str, NUMBERS), "1.5", "0.0", "-1.0e+300", "4", "8", str(random.randrange(40))))
        tokens[index] = value


def _element(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    """Another element type in one type, or in all that have it."""
    places = [index for index in _places(tokens, "type") if _ELEMENT.search(tokens[index])]
    if not places:
        return
    old = _ELEMENT.search(tokens[random.choice(places)])
    new = random.choice(_ELEMENTS)
    chosen = places if random.random() < 0.6 else [random.choice(places)]
    for index in chosen:
        tokens[index] = _ELEMENT.sub(lambda match: new if old and match[0] == old[0] else match[0], tokens[index])


def _dim(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    """Another size in one type, or wherever it stands."""
    places = [index for index in _places(tokens, "type") if _DIM.search(tokens[index])]
    if not places:
        return
    old = random.choice(_DIM.findall(tokens[random.choice(places)]))
    new = random.choice(_DIMS)
    for index in places if random.random() < 0.6 else [random.choice(places)]:
        tokens[index] = _DIM.sub(lambda match: new if match[0] == old else match[0], tokens[index])


def _type(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    places = _places(tokens, "type")
    if places:
        tokens[random.choice(places)] = random.choice(_TYPES)


def _rank(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    """One dim more or less."""
    places = [index for index in _places(tokens, "type") if "<" in tokens[index]]
    if not places:
        return
    index = random.choice(places)
    token = tokens[index]
    tokens[index] = token.replace("<", "<2x", 1) if random.random() < 0.5 else re.sub(r"<(?:\d+|\?)x", "<", token, count=1)


def _drop(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    begin = random.randrange(len(tokens))
    del tokens[begin : begin + random.choice((1, 1, 2, 5))]


def _double(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    begin = random.randrange(len(tokens))
    tokens[begin:begin] = tokens[begin : begin + random.choice((1, 2, 5, 20))]


def _insert(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    if pool:
        begin = random.randrange(len(pool))
        place = random.randrange(len(tokens) + 1)
        tokens[place:place] = pool[begin : begin + random.choice((1, 2, 5))]


def _attribute(random: Random, tokens: list[str], pool: Sequence[str]) -> None:
    """An attribute of another op goes into a dictionary."""
    braces = [index for index, token in enumerate(tokens) if token == "{" and index and tokens[index - 1] != ")"]
    begins = [index for index, token in enumerate(pool) if token == "="]
    if braces and begins:
        begin = random.choice(begins)
        place = random.choice(braces) + 1
        tokens[place:place] = [*pool[max(0, begin - 2) : begin + 6], ", "]


_EDITS: Sequence[Edit] = (
    _same_kind, _same_kind, _same_kind, _same_kind, _number, _number, _number, _element, _element, _dim, _dim, _dim, _type, _rank,
    _drop, _double, _insert, _attribute,
)  # fmt: skip
