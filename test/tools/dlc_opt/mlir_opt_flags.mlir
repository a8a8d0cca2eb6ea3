// RUN: dlc-opt %s --verify-roundtrip --mlir-disable-threading | filecheck %s
// RUN: dlc-opt %s --mlir-print-skip-regions | filecheck %s --check-prefix=SKIP
// RUN: dlc-opt %s --canonicalize --cse --mlir-timing --mlir-timing-display=list 2>&1 >/dev/null | filecheck %s --check-prefix=LIST
// RUN: dlc-opt %s --canonicalize --mlir-generate-reproducer=%t.mlir | filecheck %s
// RUN: dlc-opt --run-reproducer %t.mlir | filecheck %s
// RUN: dlc-opt %s --emit-bytecode -o %t.mlirbc
// RUN: dlc-opt %t.mlirbc --no-implicit-module | filecheck %s
// RUN: not dlc-opt %s --debug-only=x 2>&1 | filecheck %s --check-prefix=DEBUG
// RUN: not dlc-opt %s --mlir-print-value-users 2>&1 | filecheck %s --check-prefix=USERS
// RUN: not dlc-opt %s --mlir-timing --mlir-timing-display=pie 2>&1 | filecheck %s --check-prefix=PIE
// Flags of mlir-opt: those that dlc-opt has, and a reason for the others.

// SKIP: module {...}
// LIST: Parser
// LIST-DAG: canonicalize
// LIST-DAG: cse
// LIST: Total
// DEBUG: error: dlc-opt has not mlir-opt's flag --debug-only: LLVM's debug output is not in release builds
// USERS: error: dlc-opt has not mlir-opt's flag --mlir-print-value-users: the bindings have no such printing option
// PIE: error: 'pie' is no form; give tree or list

// CHECK-LABEL: func.func @relu
// CHECK: "dl.relu"
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
