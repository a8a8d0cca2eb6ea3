"""Random functions of affine loops: up to four loops deep, three statements, bounds of several maps, steps, conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

SIZE = 3
"""The value of the one parameter, `%n`."""

_KIND = {1: "memref<?xf32>", 2: "memref<?x?xf32>"}


@dataclass
class _Writer:
    """Draws a function and writes its text; `dims` are the loops' variables so far."""

    random: Random
    statements_left: int = 3
    loops_left: int = 4
    values: int = 0
    variables: int = 0
    lines: list[str] = field(default_factory=list)
    crossing: int = 0
    """How often in a hundred loops carry values, conditions give some, and statements use those of other statements."""
    visible: list[str] = field(default_factory=lambda: ["%z"])

    def function(self) -> str:
        ranks = {name: self.random.randint(1, 2) for name in ("A", "B")}
        self.ranks = ranks
        while self.statements_left:
            self.loop([], "  ")
        arguments = ", ".join(["%n: index", *(f"%{name}: {_KIND[rank]} {{llvm.noalias}}" for name, rank in ranks.items())])
        body = "\n".join(self.lines)
        start = "  %z = arith.constant 1.0 : f32\n" if self.crossing else ""
        return f"func.func @f({arguments}) {{\n{start}{body}\n  return\n}}"

    def chance(self, percent: int) -> bool:
        return self.random.randint(1, 100) <= percent

    def loop(self, dims: list[str], indent: str) -> None:
        variable = f"%i{self.variables}"
        self.variables += 1
        self.loops_left -= 1
        outer, carried = list(self.visible), self.chance(self.crossing)
        if self.chance(12) and not carried:
            upper = self.random.randint(1, 3)
            self.lines.append(f"{indent}affine.parallel ({variable}) = ({self.random.randint(0, 1)}) to ({upper}) {{")
        else:
            lower, upper = self.bound("max", -1, 0, dims), self.bound("min", 2, 3, dims)
            step = self.random.choice(["", "", "", " step 2", " step 3"])
            result, argument = f"%r{variable[1:]}", f"%c{variable[1:]}"
            head, tail = ("", "")
            if carried:
                head, tail = f"{result} = ", f" iter_args({argument} = {self.random.choice(outer)}) -> (f32)"
                self.visible.append(argument)
            self.lines.append(f"{indent}{head}affine.for {variable} = {lower} to {upper}{step}{tail} {{")
        self.body([*dims, variable], indent + "  ")
        if carried:
            self.lines.append(f"{indent}  affine.yield {self.combined(indent + '  ')} : f32")
            outer.append(result)
        self.lines.append(f"{indent}}}")
        self.visible = outer
        if carried:
            self.access(dims, indent, 1, self.combined(indent))

    def body(self, dims: list[str], indent: str) -> None:
        """At least one statement; then loops, conditions and statements while there are some left."""
        if self.loops_left and self.chance(65):
            self.loop(dims, indent)
        elif self.statements_left and self.chance(25):
            self.condition(dims, indent)
        else:
            self.statement(dims, indent)
        if self.statements_left and self.chance(50):
            self.body(dims, indent)

    def condition(self, dims: list[str], indent: str) -> None:
        names = ", ".join(f"d{at}" for at in range(len(dims)))
        kinds = [">= 0", ">= 0", "== 0"]
        count = self.random.randint(1, 2)
        constraints = ", ".join(f"{self.expression(len(dims))} {self.random.choice(kinds)}" for _ in range(count))
        gives = self.chance(self.crossing)
        head, tail = (f"{self.value()} = ", " -> f32") if gives else ("", "")
        self.lines.append(f"{indent}{head}affine.if affine_set<({names})[s0] : ({constraints})>({', '.join(dims)})[%n]{tail} {{")
        outer = list(self.visible)
        self.statement(dims, indent + "  ")
        if gives:
            self.lines.append(f"{indent}  affine.yield {self.visible[-1]} : f32")
            self.lines.append(f"{indent}}} else {{")
            self.lines.append(f"{indent}  affine.yield {self.random.choice(outer)} : f32")
            outer.append(head.removesuffix(" = "))
        elif self.statements_left and self.chance(50):
            self.lines.append(f"{indent}}} else {{")
            self.visible = list(outer)
            self.statement(dims, indent + "  ")
        self.lines.append(f"{indent}}}")
        self.visible = outer

    def statement(self, dims: list[str], indent: str) -> None:
        """One or two loads, and a store of them; at times of vectors, or two stores of one value."""
        self.statements_left = max(self.statements_left - 1, 0)
        lanes = 2 if self.chance(10) else 1
        loaded = [self.access(dims, indent, lanes, None) for _ in range(self.random.randint(1, 2))]
        value = loaded[0]
        if len(loaded) > 1:
            value = self.value()
            kind = "vector<2xf32>" if lanes > 1 else "f32"
            self.lines.append(f"{indent}{value} = arith.subf {loaded[0]}, {loaded[1]} : {kind}")
        if lanes == 1:
            self.visible.append(value)
            value = self.combined(indent) if self.chance(self.crossing) else value
        for _ in range(2 if self.chance(15) else 1):
            self.access(dims, indent, lanes, value)

    def access(self, dims: list[str], indent: str, lanes: int, stored: str | None) -> str:
        name = self.random.choice(list(self.ranks))
        subscripts = ", ".join(self.expression(len(dims)) for _ in range(self.ranks[name]))
        for at in reversed(range(len(dims))):
            subscripts = subscripts.replace(f"d{at}", dims[at])
        subscripts = subscripts.replace("s0", "symbol(%n)")
        kind, prefix = _KIND[self.ranks[name]], "vector_" if lanes > 1 else ""
        tail = f", vector<{lanes}xf32>" if lanes > 1 else ""
        if stored is not None:
            self.lines.append(f"{indent}affine.{prefix}store {stored}, %{name}[{subscripts}] : {kind}{tail}")
            return stored
        value = self.value()
        self.lines.append(f"{indent}{value} = affine.{prefix}load %{name}[{subscripts}] : {kind}{tail}")
        return value

    def combined(self, indent: str) -> str:
        """A value made of two that are known here."""
        one, other, value = self.random.choice(self.visible), self.random.choice(self.visible), self.value()
        self.lines.append(f"{indent}{value} = arith.subf {one}, {other} : f32")
        return value

    def value(self) -> str:
        self.values += 1
        return f"%v{self.values}"

    def bound(self, kind: str, low: int, high: int, dims: list[str]) -> str:
        """A number, or a map of one or two results over the loops around and `%n`."""
        if self.chance(60):
            return str(self.random.randint(low, high))
        results = [str(self.random.randint(low, high))] if self.chance(60) else []
        results.append(f"{self.expression(len(dims), small=True)} + {low}")
        names = ", ".join(f"d{at}" for at in range(len(dims)))
        prefix = f"{kind} " if len(results) > 1 else ""
        return f"{prefix}affine_map<({names})[s0] -> ({', '.join(results)})>({', '.join(dims)})[%n]"

    def expression(self, dims: int, small: bool = False) -> str:
        """A sum of loops' variables and a constant, at times `%n`, at times divided."""
        terms = [str(self.random.randint(-1, 2))]
        for at in range(dims):
            factor = self.random.choice([0, 0, 1, 1] if small else [0, 0, 1, 1, 1, 2, -1])
            if factor:
                terms.append(f"d{at} * {factor}")
        if self.chance(15):
            terms.append("s0")
        text = " + ".join(terms)
        form = self.random.choice(["plain"] * 9 + ["mod", "floordiv", "ceildiv"])
        return text if form == "plain" else f"({text}) {form} {self.random.randint(2, 3)}"


@st.composite
def nests(draw: st.DrawFn, crossing: int = 0) -> str:
    """The text of a function `f(%n: index, %A, %B)` of memrefs of one or two dims; with `crossing`, values cross statements."""
    return _Writer(Random(draw(st.integers(0, 2**62))), crossing=crossing).function()
