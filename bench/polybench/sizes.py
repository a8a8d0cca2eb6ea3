"""Sizes of the kernels: PolyBench/C 4.2.1's own numbers for its thirty, and ours for the nests of deep learning."""

from __future__ import annotations

from collections.abc import Mapping

CLASSES = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")

_ROWS: Mapping[str, tuple[str, ...]] = {
    "correlation covariance": ("M=28 N=32", "M=80 N=100", "M=240 N=260", "M=1200 N=1400", "M=2600 N=3000"),
    "gemm": (
        "NI=20 NJ=25 NK=30",
        "NI=60 NJ=70 NK=80",
        "NI=200 NJ=220 NK=240",
        "NI=1000 NJ=1100 NK=1200",
        "NI=2000 NJ=2300 NK=2600",
    ),
    "gemver mvt cholesky durbin lu ludcmp trisolv": ("N=40", "N=120", "N=400", "N=2000", "N=4000"),
    "gesummv": ("N=30", "N=90", "N=250", "N=1300", "N=2800"),
    "symm syr2k syrk trmm gramschmidt": ("M=20 N=30", "M=60 N=80", "M=200 N=240", "M=1000 N=1200", "M=2000 N=2600"),
    "2mm": (
        "NI=16 NJ=18 NK=22 NL=24",
        "NI=40 NJ=50 NK=70 NL=80",
        "NI=180 NJ=190 NK=210 NL=220",
        "NI=800 NJ=900 NK=1100 NL=1200",
        "NI=1600 NJ=1800 NK=2200 NL=2400",
    ),
    "3mm": (
        "NI=16 NJ=18 NK=20 NL=22 NM=24",
        "NI=40 NJ=50 NK=60 NL=70 NM=80",
        "NI=180 NJ=190 NK=200 NL=210 NM=220",
        "NI=800 NJ=900 NK=1000 NL=1100 NM=1200",
        "NI=1600 NJ=1800 NK=2000 NL=2200 NM=2400",
    ),
    "atax bicg": ("M=38 N=42", "M=116 N=124", "M=390 N=410", "M=1900 N=2100", "M=1800 N=2200"),
    "doitgen": ("NQ=8 NR=10 NP=12", "NQ=20 NR=25 NP=30", "NQ=40 NR=50 NP=60", "NQ=140 NR=150 NP=160", "NQ=220 NR=250 NP=270"),
    "deriche": ("W=64 H=64", "W=192 H=128", "W=720 H=480", "W=4096 H=2160", "W=7680 H=4320"),
    "floyd-warshall": ("N=60", "N=180", "N=500", "N=2800", "N=5600"),
    "nussinov": ("N=60", "N=180", "N=500", "N=2500", "N=5500"),
    "adi": ("TSTEPS=20 N=20", "TSTEPS=40 N=60", "TSTEPS=100 N=200", "TSTEPS=500 N=1000", "TSTEPS=1000 N=2000"),
    "fdtd-2d": (
        "TMAX=20 NX=20 NY=30",
        "TMAX=40 NX=60 NY=80",
        "TMAX=100 NX=200 NY=240",
        "TMAX=500 NX=1000 NY=1200",
        "TMAX=1000 NX=2000 NY=2600",
    ),
    "heat-3d": ("TSTEPS=20 N=10", "TSTEPS=40 N=20", "TSTEPS=100 N=40", "TSTEPS=500 N=120", "TSTEPS=1000 N=200"),
    "jacobi-1d": ("TSTEPS=20 N=30", "TSTEPS=40 N=120", "TSTEPS=100 N=400", "TSTEPS=500 N=2000", "TSTEPS=1000 N=4000"),
    "jacobi-2d": ("TSTEPS=20 N=30", "TSTEPS=40 N=90", "TSTEPS=100 N=250", "TSTEPS=500 N=1300", "TSTEPS=1000 N=2800"),
    "seidel-2d": ("TSTEPS=20 N=40", "TSTEPS=40 N=120", "TSTEPS=100 N=400", "TSTEPS=500 N=2000", "TSTEPS=1000 N=4000"),
    "dl-matmul": ("M=20 N=25 K=30", "M=64 N=64 K=64", "M=256 N=256 K=256", "M=1024 N=1024 K=1024", "M=2048 N=2048 K=2048"),
    "dl-matmul-chain": (
        "M=16 K=18 L=20 N=22",
        "M=64 K=48 L=96 N=64",
        "M=128 K=256 L=512 N=256",
        "M=512 K=768 L=1024 N=768",
        "M=1024 K=1024 L=4096 N=1024",
    ),
    "dl-conv3x3": (
        "NB=1 IC=3 OC=4 H=6 W=9 HP=8 WP=11",
        "NB=1 IC=8 OC=16 H=14 W=14 HP=16 WP=16",
        "NB=1 IC=32 OC=32 H=28 W=28 HP=30 WP=30",
        "NB=1 IC=64 OC=64 H=56 W=56 HP=58 WP=58",
        "NB=4 IC=128 OC=128 H=56 W=56 HP=58 WP=58",
    ),
    "dl-stencil": (
        "NC=2 H=10 W=17 HP=12 WP=19",
        "NC=3 H=62 W=62 HP=64 WP=64",
        "NC=3 H=254 W=254 HP=256 WP=256",
        "NC=8 H=1022 W=1022 HP=1024 WP=1024",
        "NC=16 H=2046 W=2046 HP=2048 WP=2048",
    ),
    "dl-layer-norm dl-softmax": ("M=12 N=19", "M=64 N=96", "M=256 N=384", "M=1024 N=1024", "M=4096 N=4096"),
    "dl-attention": ("NH=2 S=12 D=9", "NH=2 S=32 D=16", "NH=4 S=128 D=32", "NH=12 S=384 D=64", "NH=16 S=1024 D=64"),
}


def _row(texts: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """The sizes by class."""
    assignments = [dict(item.split("=") for item in text.split()) for text in texts]
    found = [{name: int(value) for name, value in each.items()} for each in assignments]
    return dict(zip(CLASSES, found, strict=True))


SIZES: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    name: _row(texts) for names, texts in _ROWS.items() for name in names.split()
}
"""Sizes by kernel, class and name: `SIZES["gemm"]["LARGE"]["NI"]` is 1000."""
