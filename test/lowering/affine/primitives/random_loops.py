"""Random functions of affine loops on integers, whose values depend on the order in which they are computed."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

_SIZE = 24
_ARRAYS = ("%A", "%B", "%C", "%L", "%L")
_KIND = f"memref<{_SIZE}x{_SIZE}xi64>"


@dataclass
class _Writer:
    """Writes the text of one function, choosing as it goes."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"%{prefix}{self.count}"

    def nest(self, variables: list[str], depth: int) -> None:
        """A loop, with statements and loops inside."""
        pad = "  " * (len(variables) + 1)
        variable = self.fresh("i")
        lower = self.draw(st.integers(0, 2))
        upper = lower + 1 if self.draw(st.integers(0, 5)) == 0 else self.draw(st.integers(3, 7))
        low, high = str(lower), str(upper)
        if variables and self.draw(st.integers(0, 3)) == 0:
            low, high = f"affine_map<(d0) -> (d0)>({variables[-1]})", "8"
        elif variables and self.draw(st.integers(0, 3)) == 0:
            high = f"affine_map<(d0) -> (d0 + {self.draw(st.integers(0, 2))})>({variables[-1]})"
        step = " step 2" if self.draw(st.integers(0, 5)) == 0 else ""
        self.lines.append(f"{pad}affine.for {variable} = {low} to {high}{step} {{")
        inner = [*variables, variable]
        if depth > 1:
            if self.draw(st.integers(0, 3)) == 0:
                self.statement(inner)
            self.nest(inner, depth - 1)
        for _ in range(self.draw(st.integers(0 if depth > 1 else 1, 1 if depth > 1 else 2))):
            self.statement(inner)
        self.lines.append(f"{pad}}}")

    def statement(self, variables: list[str]) -> None:
        """X[..] = 3 * Y[..], or that minus X[..], or X[..] minus that, whose order does not matter."""
        pad = "  " * (len(variables) + 1)
        target, source = self.draw(st.sampled_from(_ARRAYS)), self.draw(st.sampled_from(_ARRAYS))
        place = self.place(variables)
        value, product = self.fresh("v"), self.fresh("v")
        self.lines.append(f"{pad}{value} = affine.load {source}[{self.place(variables)}] : {_KIND}")
        self.lines.append(f"{pad}{product} = arith.muli {value}, %three : i64")
        if self.draw(st.booleans()):
            old, product, before = self.fresh("v"), self.fresh("v"), product
            own = place if self.draw(st.booleans()) else self.place(variables)
            self.lines.append(f"{pad}{old} = affine.load {target}[{own}] : {_KIND}")
            sides = f"{old}, {before}" if self.draw(st.booleans()) else f"{before}, {old}"
            self.lines.append(f"{pad}{product} = arith.subi {sides} : i64")
        self.lines.append(f"{pad}affine.store {product}, {target}[{place}] : {_KIND}")

    def place(self, variables: list[str]) -> str:
        """Two subscripts."""
        return ", ".join(self.subscript(variables) for _ in range(2))

    def subscript(self, variables: list[str]) -> str:
        kind = self.draw(st.integers(0, 9))
        variable = self.draw(st.sampled_from(variables))
        offset = self.draw(st.integers(0, 2))
        if kind == 0:
            return str(offset)
        if kind == 1 and len(variables) > 1:
            return f"{variables[-1]} + {variables[-2]} + {offset}"
        return f"{variable} + {offset}"


@st.composite
def functions(draw: st.DrawFn) -> str:
    """The text of a module with one function on three arrays, with one local array."""
    writer = _Writer(draw)
    for _ in range(draw(st.integers(1, 3))):
        writer.nest([], draw(st.integers(1, 3)))
    body = "\n".join(writer.lines)
    arguments = ", ".join(f"{name}: {_KIND} {{llvm.noalias}}" for name in _ARRAYS[:3])
    first = f"""  %three = arith.constant 3 : i64
  %zero = arith.constant 7 : i64
  %L = memref.alloc() : {_KIND}
  affine.for %x = 0 to {_SIZE} {{
    affine.for %y = 0 to {_SIZE} {{
      affine.store %zero, %L[%x, %y] : {_KIND}
    }}
  }}
"""
    return f"func.func @f({arguments}) {{\n{first}{body}\n  memref.dealloc %L : {_KIND}\n  return\n}}\n"
