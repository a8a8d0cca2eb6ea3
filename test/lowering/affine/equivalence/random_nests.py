"""Random nests of affine loops, and random new orders of their iterations, each from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import islpy as isl

_SIZE = 12
_KIND = f"memref<{_SIZE}x{_SIZE}xf32>"


def nest(generator: random.Random) -> str:
    """A function of one to three statements in one or two nests of two loops, on up to three arrays that they read and write."""
    lines = [f"func.func @f({', '.join(f'%A{at}: {_KIND}' for at in range(3))}) {{"]
    left = generator.choice([1, 2, 2, 3])
    while left:
        count = generator.randint(1, left)
        left -= count
        lines += _loops(generator, count)
    return "\n".join([*lines, "  return", "}"])


def _loops(generator: random.Random, count: int) -> Iterator[str]:
    low = generator.choice([0, 1, 1, 2])
    high = low + generator.randint(2, 4)
    inner = generator.choice([("1", "5"), ("2", "6"), ("%i", "6"), ("1", "%i + 2"), ("0", "4")])
    step = generator.choice(["", "", "", " step 2"])
    yield f"  affine.for %i = {low} to {high} {{"
    yield f"    affine.for %j = {_bound('max', inner[0])} to {_bound('min', inner[1])}{step} {{"
    for _ in range(count):
        yield from _statement(generator)
    yield "    }"
    yield "  }"


def _bound(_: str, text: str) -> str:
    return f"affine_map<(d0) -> ({text.replace('%i', 'd0')})>(%i)" if "%i" in text else text


_numbers = iter(range(1 << 30))


def _statement(generator: random.Random) -> Iterator[str]:
    name = next(_numbers)
    reads = generator.choice([1, 2])
    values = []
    for at in range(reads):
        value = f"%v{name}_{at}"
        yield f"      {value} = affine.load %A{generator.randrange(3)}[{_subscripts(generator)}] : {_KIND}"
        values.append(value)
    yield f"      %r{name} = arith.{generator.choice(['mulf', 'subf', 'divf'])} {values[0]}, {values[-1]} : f32"
    yield f"      affine.store %r{name}, %A{generator.randrange(3)}[{_subscripts(generator)}] : {_KIND}"


def _subscripts(generator: random.Random) -> str:
    """Mostly the variables with small offsets; sometimes swapped, constant, or with a modulo or division."""
    forms = ["%i", "%i", "%i", "%j", "%i mod 2", "%j floordiv 2", "3"], ["%j", "%j", "%j", "%i", "%j mod 3", "%i floordiv 2", "2"]
    texts = []
    for choices in forms:
        base, offset = generator.choice(choices), generator.choice([0, 0, 1, -1, 2])
        texts.append(f"{base} + {offset + 2}")
    return ", ".join(texts)


def new_order(generator: random.Random, domains: Sequence[isl.Set]) -> isl.Schedule:
    """A schedule of statements of two dims: each by its own unimodular map with a shift, fused or not."""
    fused = generator.random() < 0.5
    places = list(range(len(domains)))
    if generator.random() < 0.3:
        generator.shuffle(places)
    shared = _unimodular(generator)
    columns: list[list[str]] = [[], [], [], []]
    for domain, place in zip(domains, places, strict=True):
        matrix = shared if generator.random() < 0.7 else _unimodular(generator)
        name = domain.get_tuple_name()
        shift = [generator.choice([0, 0, 0, 1, -1, 2]) for _ in range(2)]
        times = [f"{row[0]}*i + {row[1]}*j + {offset}" for row, offset in zip(matrix, shift, strict=True)]
        for column, text in zip(columns, [str(0 if fused else place), *times, str(place)], strict=True):
            column.append(f"{name}[i, j] -> [({text})]")
    whole = isl.UnionSet.from_set(domains[0])
    for domain in domains[1:]:
        whole = whole.union(isl.UnionSet.from_set(domain))
    text = ", ".join(f"{{ {'; '.join(column)} }}" for column in columns)
    return isl.Schedule.from_domain(whole).insert_partial_schedule(isl.MultiUnionPwAff(f"[{text}]"))


def _unimodular(generator: random.Random) -> list[list[int]]:
    """Interchange, reversal, skewing, or several of them."""
    rows = [[1, 0], [0, 1]]
    if generator.random() < 0.5:
        rows.reverse()
    if generator.random() < 0.3:
        at = generator.randrange(2)
        rows[at] = [-value for value in rows[at]]
    if generator.random() < 0.3:
        factor = generator.choice([1, -1, 2])
        rows[1] = [one + factor * other for one, other in zip(rows[1], rows[0], strict=True)]
    return rows
