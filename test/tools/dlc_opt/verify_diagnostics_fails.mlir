// RUN: not dlc-opt %s --verify-diagnostics 2>&1 | filecheck %s
// Both an error that nobody expects and an expectation that is not met fail.

func.func @f(%x: tensor<4xf32>) {
  // CHECK: verify_diagnostics_fails.mlir:6:8: error: unexpected error: 'dl.relu' op
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  // CHECK: verify_diagnostics_fails.mlir:8:6: error: expected error "not there" was not produced
  // expected-error@above {{not there}}
  return
}
