// RUN: dlc-opt %s --split-input-file --dl-set-target=target=gpu:sm_90 --linalg-outline-sizes | filecheck %s
// RUN: dlc-opt %s --split-input-file --linalg-outline-sizes | filecheck %s --check-prefix=CPU
// For a GPU, sizes that elements decide are computed by functions of the host, before the kernels that take them. The pass refuses nothing.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[N:.*]]: tensor<i64>)
// CHECK: %[[S:.*]] = call @range_sizes(%[[N]]) : (tensor<i64>) -> index
// CHECK: %[[R:.*]] = call @range(%[[N]], %[[S]]) : (tensor<i64>, index) -> tensor<?xi64>
// CHECK: return %[[R]]
// CPU-LABEL: func.func @main(
// CPU-NOT: _sizes
// CPU: call @range(%{{.*}}) : (tensor<i64>) -> tensor<?xi64>
func.func @main(%n: tensor<i64>) -> tensor<?xi64> {
  %0 = call @range(%n) : (tensor<i64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// The element is data, too: the kernel reads it by itself. The check stands where the size is computed.
// CHECK-LABEL: func.func private @range(
// CHECK-SAME: %[[N:.*]]: tensor<i64> {dl.dims = []}, %[[S:.*]]: index) -> tensor<?xi64> attributes {dl.kernel}
// CHECK-NOT: cf.assert
// CHECK: %[[X:.*]] = tensor.extract %[[N]][]
// CHECK: tensor.empty(%[[S]]) : tensor<?xi64>
// CHECK: arith.addi %{{.*}}, %[[X]]
// CHECK-LABEL: func.func private @range_sizes(
// CHECK-SAME: %[[N:.*]]: tensor<i64>) -> index attributes {dl.kernel}
// CHECK: %[[X:.*]] = tensor.extract %[[N]][]
// CHECK: cf.assert %{{.*}}, "too many"
// CHECK: %[[S:.*]] = arith.index_cast %[[X]]
// CHECK: return %[[S]]
// CPU: func.func private @range(%{{.*}}: tensor<i64> {dl.dims = []}) ->
// CPU: cf.assert
func.func private @range(%n: tensor<i64> {dl.dims = []}) -> tensor<?xi64> attributes {dl.kernel} {
  %most = arith.constant 100 : i64
  %x = tensor.extract %n[] : tensor<i64>
  %ok = arith.cmpi sle, %x, %most : i64
  cf.assert %ok, "too many"
  %s = arith.index_cast %x : i64 to index
  %e = tensor.empty(%s) : tensor<?xi64>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<?xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i64
    %y = arith.addi %k, %x : i64
    linalg.yield %y : i64
  } -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// no-match: a size of an argument, one that a loop computes, and a function that nothing calls.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: _sizes
func.func @others(%x: tensor<?xf32>, %n: tensor<8xi64>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = call @of_an_argument(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = call @of_a_loop(%n) : (tensor<8xi64>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
func.func private @of_an_argument(%x: tensor<?xf32>) -> tensor<?xf32> attributes {dl.kernel} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  return %e : tensor<?xf32>
}
func.func private @of_a_loop(%n: tensor<8xi64>) -> tensor<?xf32> attributes {dl.kernel} {
  %empty = tensor.empty() : tensor<i64>
  %sum = linalg.reduce { arith.addi } ins(%n : tensor<8xi64>) outs(%empty : tensor<i64>) dimensions = [0]
  %x = tensor.extract %sum[] : tensor<i64>
  %s = arith.index_cast %x : i64 to index
  %e = tensor.empty(%s) : tensor<?xf32>
  return %e : tensor<?xf32>
}
func.func private @alone(%n: tensor<i64>) -> tensor<?xf32> attributes {dl.kernel} {
  %x = tensor.extract %n[] : tensor<i64>
  %s = arith.index_cast %x : i64 to index
  %e = tensor.empty(%s) : tensor<?xf32>
  return %e : tensor<?xf32>
}
