// RUN: dlc-opt %s --split-input-file --dl-set-target=target=gpu:sm_90 --linalg-outline-sizes | filecheck %s
// Where parts of tensors lie the host computes, too, and so it does sizes of which functions of floats are a part. The pass refuses nothing.

// CHECK-LABEL: func.func private @range(
// CHECK-SAME: %{{.*}}: tensor<f32>, %[[S:[a-z0-9]+]]: index)
// CHECK: tensor.empty(%[[S]])
// CHECK-LABEL: func.func private @range_sizes(
// CHECK: math.ceil
// CHECK: return %{{.*}} : index
func.func @main(%x: tensor<f32>) -> tensor<?xf32> {
  %0 = call @range(%x) : (tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @range(%x: tensor<f32>) -> tensor<?xf32> attributes {dl.kernel} {
  %limit = tensor.extract %x[] : tensor<f32>
  %up = math.ceil %limit : f32
  %number = arith.fptosi %up : f32 to i64
  %s = arith.index_cast %number : i64 to index
  %e = tensor.empty(%s) : tensor<?xf32>
  %0 = linalg.fill ins(%limit : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func private @place(
// CHECK-SAME: %[[S:[a-z0-9]+]]: index)
// CHECK-NOT: arith.index_cast
// CHECK: tensor.insert_slice %{{.*}} into %{{[^ ]*}}{{\[}}%[[S]]{{\]}} [4]
// CHECK-LABEL: func.func private @place_sizes(
func.func @main(%x: tensor<4xf32>, %to: tensor<9xf32>, %at: tensor<i64>) -> tensor<9xf32> {
  %0 = call @place(%x, %to, %at) : (tensor<4xf32>, tensor<9xf32>, tensor<i64>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
func.func private @place(%x: tensor<4xf32>, %to: tensor<9xf32>, %at: tensor<i64>) -> tensor<9xf32> attributes {dl.kernel} {
  %number = tensor.extract %at[] : tensor<i64>
  %place = arith.index_cast %number : i64 to index
  %0 = tensor.insert_slice %x into %to[%place] [4] [1] : tensor<4xf32> into tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

// no-match: places that sizes decide are known before.
// CHECK-LABEL: func.func private @by_size(
// CHECK-SAME: %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<?xf32>)
// CHECK-NOT: _sizes
func.func @main(%x: tensor<?xf32>, %to: tensor<?xf32>) -> tensor<?xf32> {
  %0 = call @by_size(%x, %to) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @by_size(%x: tensor<?xf32>, %to: tensor<?xf32>) -> tensor<?xf32> attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = tensor.insert_slice %x into %to[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %0 : tensor<?xf32>
}
