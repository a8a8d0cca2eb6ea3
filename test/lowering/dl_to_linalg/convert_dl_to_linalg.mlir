// RUN: dlc-opt %s --convert-dl-to-linalg --split-input-file --verify-diagnostics | filecheck %s
// Constants keep their bits, kernels are inlined, weights must be arguments.

// CHECK-LABEL: func.func @constant(
// CHECK: arith.constant dense<-56> : tensor<4xi8>
func.func @constant() -> tensor<4xui8> {
  %0 = "dl.constant"() {value = dense<200> : tensor<4xui8>} : () -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// CHECK-LABEL: func.func @kernel(
// CHECK-NOT: dl.kernel
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: return %[[SUM]]
func.func @kernel(%x: tensor<?xf32>, %y: tensor<1xf32>) -> tensor<?xf32> {
  %0 = "dl.kernel"() ({
    %1 = "dl.add"(%x, %y) : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    "dl.yield"(%1) : (tensor<?xf32>) -> ()
  }) : () -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @param() -> tensor<4xf32> {
  // expected-error@below {{'dl.param' op has no lowering to linalg; run dl-bind-params first}}
  %0 = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// no-match: ops of other dialects stay.
// CHECK-LABEL: func.func @other(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = math.exp %[[X]]
// CHECK-NEXT: return %[[Y]]
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
