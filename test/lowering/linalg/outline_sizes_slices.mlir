// RUN: dlc-opt %s --split-input-file --dl-set-target=target=gpu:sm_90 --linalg-outline-sizes | filecheck %s
// Sizes of parts of tensors are the host's, too, also by functions of floats. The pass refuses nothing.

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

// The size of a part; where it lies the kernel reads by itself.
// CHECK-LABEL: func.func private @part(
// CHECK-SAME: %[[S:[a-z0-9]+]]: index)
// CHECK: %[[N:.*]] = tensor.extract
// CHECK: %[[PLACE:[a-z0-9_]+]] = arith.index_cast %[[N]]
// CHECK: tensor.extract_slice %{{[^ ]*}}{{\[}}%[[PLACE]]{{\]}} {{\[}}%[[S]]{{\]}} [1]
// CHECK-LABEL: func.func private @part_sizes(
func.func @main(%x: tensor<9xf32>, %at: tensor<i64>, %n: tensor<i64>) -> tensor<?xf32> {
  %0 = call @part(%x, %at, %n) : (tensor<9xf32>, tensor<i64>, tensor<i64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @part(%x: tensor<9xf32>, %at: tensor<i64>, %n: tensor<i64>) -> tensor<?xf32> attributes {dl.kernel} {
  %first = tensor.extract %at[] : tensor<i64>
  %place = arith.index_cast %first : i64 to index
  %count = tensor.extract %n[] : tensor<i64>
  %size = arith.index_cast %count : i64 to index
  %0 = tensor.extract_slice %x[%place] [%size] [1] : tensor<9xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// no-match: only the place is data, and the size that of an operand.
// CHECK-LABEL: func.func private @place(
// CHECK-NOT: _sizes
func.func @main(%x: tensor<?xf32>, %to: tensor<9xf32>, %at: tensor<i64>) -> tensor<9xf32> {
  %0 = call @place(%x, %to, %at) : (tensor<?xf32>, tensor<9xf32>, tensor<i64>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
func.func private @place(%x: tensor<?xf32>, %to: tensor<9xf32>, %at: tensor<i64>) -> tensor<9xf32> attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %number = tensor.extract %at[] : tensor<i64>
  %place = arith.index_cast %number : i64 to index
  %0 = tensor.insert_slice %x into %to[%place] [%n] [1] : tensor<?xf32> into tensor<9xf32>
  return %0 : tensor<9xf32>
}
