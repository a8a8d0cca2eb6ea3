"""The flags of mlir-opt, as its `--help` of LLVM 24 lists those that are no passes, and what dlc-opt has in place of each it lacks.

Debug builds of LLVM have further ones; flags of single dialects, tests and passes are not here.
"""

from __future__ import annotations

from collections.abc import Mapping

_NOT_BOUND = "the bindings have no such printing option"
_NO_STATISTICS = "passes count nothing; --mlir-timing shows where time goes, and dlc explain what each pass changed"
_RELEASE = "LLVM's debug output is not in release builds; run Python with `breakpoint()` in the pass"
_NO_PLUGINS = "passes and dialects are Python; --load-pass-plugin takes a Python file"
_NO_ACTIONS = "there are no actions; --mlir-print-ir-before-all and -after-all show each step"

MLIR_OPT_FLAGS: Mapping[str, str] = {
    "allow-unregistered-dialect": "",
    "debug": _RELEASE,
    "debug-only": _RELEASE,
    "disable-i2p-p2i-opt": "it belongs to LLVM's own passes, which run when machine code is made",
    "dump-pass-pipeline": "",
    "emit-bytecode": "",
    "emit-bytecode-producer": "bytecode names the producer of the bindings",
    "emit-bytecode-version": "bytecode has the newest version",
    "help": "",
    "irdl-file": "",
    "list-passes": "",
    "load-dialect-plugin": _NO_PLUGINS,
    "load-pass-plugin": "",
    "log-actions-to": _NO_ACTIONS,
    "log-mlir-actions-filter": _NO_ACTIONS,
    "mlir-debug-counter": _NO_ACTIONS,
    "mlir-disable-diagnostic-notes": "notes are part of a diagnostic: lines after it with `note:`",
    "mlir-disable-threading": "",
    "mlir-elide-elementsattrs-if-larger": "",
    "mlir-elide-resource-strings-if-larger": "",
    "mlir-enable-debugger-hook": _NO_ACTIONS,
    "mlir-generate-reproducer": "",
    "mlir-output-format": "timing is a text; dlc bench --json writes JSON",
    "mlir-pass-pipeline-crash-reproducer": "",
    "mlir-pass-pipeline-local-reproducer": "reproducers are always local: of the one pass that fails",
    "mlir-pass-statistics": _NO_STATISTICS,
    "mlir-pass-statistics-display": _NO_STATISTICS,
    "mlir-pretty-debuginfo": "--mlir-print-debuginfo prints locations as they parse",
    "mlir-print-assume-verified": "IR is verified when it is printed",
    "mlir-print-debug-counter": _NO_ACTIONS,
    "mlir-print-debuginfo": "",
    "mlir-print-elementsattrs-with-hex-if-larger": _NOT_BOUND,
    "mlir-print-ir-after": "",
    "mlir-print-ir-after-all": "",
    "mlir-print-ir-after-change": "",
    "mlir-print-ir-after-failure": "",
    "mlir-print-ir-before": "",
    "mlir-print-ir-before-all": "",
    "mlir-print-ir-module-scope": "",
    "mlir-print-ir-tree-dir": "",
    "mlir-print-local-scope": "",
    "mlir-print-op-generic": "",
    "mlir-print-op-on-diagnostic": "diagnostics show the line of the source instead",
    "mlir-print-skip-regions": "",
    "mlir-print-stacktrace-on-diagnostic": "dlc-opt names the pass; dlc --debug shows the traceback of an error",
    "mlir-print-unique-ssa-ids": _NOT_BOUND,
    "mlir-print-value-users": _NOT_BOUND,
    "mlir-reproducer-before-all": "--mlir-print-ir-tree-dir keeps the IR around each pass",
    "mlir-timing": "",
    "mlir-timing-display": "",
    "mlir-use-nameloc-as-prefix": _NOT_BOUND,
    "no-implicit-module": "",
    "o": "",
    "output-split-marker": "parts are joined by the line `// -----`",
    "pass-pipeline": "",
    "profile-actions-to": _NO_ACTIONS,
    "run-reproducer": "",
    "show-dialects": "",
    "split-input-file": "",
    "verify-diagnostics": "",
    "verify-each": "",
    "verify-roundtrip": "",
    "version": "",
}
"""By name: empty where dlc-opt has the flag, else why not and what to do instead."""
