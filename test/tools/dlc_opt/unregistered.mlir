// RUN: dlc-opt %s --allow-unregistered-dialect --cse | filecheck %s
// RUN: not dlc-opt %s 2>&1 | filecheck %s --check-prefix=ERROR
// Ops of unknown dialects are accepted on request only.

// CHECK: "other.op"() {a = 1 : i64} : () -> ()
// ERROR: unregistered.mlir:7:11: error: operation being parsed with an unregistered dialect
"other.op"() {a = 1 : i64} : () -> ()
