// RUN: dlc-opt %s --convert-dl-to-linalg | filecheck %s
// Activations are one generic each; limits are compare and select, which is one instruction that keeps NaN.

// CHECK-LABEL: func.func @relu(
// CHECK: %[[BELOW:.*]] = arith.cmpf ogt, %[[ZERO:.*]], %[[X:.*]] : f32
// CHECK-NEXT: arith.select %[[BELOW]], %[[ZERO]], %[[X]] : f32
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @gelu(
// CHECK: math.erf
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[E]]
// CHECK: arith.divf %{{.*}}, %[[SUM]]
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.gelu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "dl.gelu"(%0) {approximate = "tanh"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @plain_elu(
// CHECK: math.expm1
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @plain_elu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.elu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @prelu_takes_the_extents_of_x(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[SLOPE:.*]]: tensor<4xf32>
// CHECK-NOT: scf.if
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[SLOPE]] : tensor<?x4xf32>, tensor<4xf32>)
func.func @prelu_takes_the_extents_of_x(%x: tensor<?x4xf32>, %slope: tensor<4xf32>) -> tensor<?x4xf32> {
  %0 = "dl.prelu"(%x, %slope) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
