// RUN: dlc-opt %s --pass-pipeline="builtin.module(cse,func.func(canonicalize,sccp))" --mlir-timing -o /dev/null 2>&1 | filecheck %s
// A table of wall times on standard error, passes of nested anchors indented.

// CHECK: Execution time report
// CHECK: Total Execution Time: {{[0-9.]+}} seconds
// CHECK: ----Wall Time---- ----Name----
// CHECK-NEXT: %) Parser
// CHECK-NEXT: %) cse
// CHECK-NEXT: %) 'func.func' Pipeline
// CHECK-NEXT: %) canonicalize
// CHECK-NEXT: %) sccp
// CHECK-NEXT: %) Output
// CHECK-NEXT: %) Rest
// CHECK-NEXT: (100.0%) Total
func.func @f() { return }
