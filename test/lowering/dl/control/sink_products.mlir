// RUN: dlc-opt %s --dl-sink-products --split-input-file | filecheck %s
// RUN: dlc-opt %s --dl-sink-products=rows=1 --split-input-file | filecheck %s --check-prefix=ROW
// A product of which the steps of a loop take their rows is computed there; the pass refuses nothing.

// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: tensor<?x16x64xf32>, %[[N:.*]]: index)
// CHECK: %[[W:.*]] = "dl.param"
// CHECK: %[[B:.*]] = "dl.param"
// CHECK-NOT: "dl.matmul"
// CHECK: scf.for
// CHECK: %[[T:.*]] = "dl.gather"(%[[X]], %{{.*}}) : (tensor<?x16x64xf32>, tensor<i64>) -> tensor<16x64xf32>
// CHECK: %[[P:.*]] = "dl.matmul"(%[[T]], %[[W]])
// CHECK: %[[S:.*]] = "dl.add"(%[[P]], %[[B]])
// CHECK: "dl.add"(%{{.*}}, %[[S]])
func.func @rows(%x: tensor<?x16x64xf32>, %n: index) -> tensor<16x256xf32> {
  %w = "dl.param"() {dtype = f32, key = "w", shape = array<i64: 64, 256>} : () -> tensor<64x256xf32>
  %b = "dl.param"() {dtype = f32, key = "b", shape = array<i64: 256>} : () -> tensor<256xf32>
  %zero = "dl.constant"() {value = dense<0.0> : tensor<16x256xf32>} : () -> tensor<16x256xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<?x16x64xf32>, tensor<64x256xf32>) -> tensor<?x16x256xf32>
  %all = "dl.add"(%0, %b) : (tensor<?x16x256xf32>, tensor<256xf32>) -> tensor<?x16x256xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x256xf32>) {
    %j = arith.index_cast %i : index to i64
    %t = tensor.from_elements %j : tensor<i64>
    %2 = "dl.gather"(%all, %t) : (tensor<?x16x256xf32>, tensor<i64>) -> tensor<16x256xf32>
    %3 = "dl.add"(%a, %2) : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
    scf.yield %3 : tensor<16x256xf32>
  }
  return %1 : tensor<16x256xf32>
}

// -----

// no-match: a step has one row.
// CHECK-LABEL: func.func @one_row
// CHECK: "dl.matmul"
// CHECK: scf.for
// CHECK-NOT: "dl.matmul"
func.func @one_row(%x: tensor<?x1x64xf32>, %n: index) -> tensor<1x256xf32> {
  %w = "dl.param"() {dtype = f32, key = "w", shape = array<i64: 64, 256>} : () -> tensor<64x256xf32>
  %zero = "dl.constant"() {value = dense<0.0> : tensor<1x256xf32>} : () -> tensor<1x256xf32>
  %all = "dl.matmul"(%x, %w) : (tensor<?x1x64xf32>, tensor<64x256xf32>) -> tensor<?x1x256xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<1x256xf32>) {
    %j = arith.index_cast %i : index to i64
    %t = tensor.from_elements %j : tensor<i64>
    %2 = "dl.gather"(%all, %t) : (tensor<?x1x256xf32>, tensor<i64>) -> tensor<1x256xf32>
    %3 = "dl.add"(%a, %2) : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
    scf.yield %3 : tensor<1x256xf32>
  }
  return %1 : tensor<1x256xf32>
}

// -----

// no-match: the whole product is used, too; and one that fits the cache.
// CHECK-LABEL: func.func @returned
// CHECK: "dl.matmul"
// CHECK: scf.for
// CHECK-NOT: "dl.matmul"
func.func @returned(%x: tensor<?x16x64xf32>, %n: index) -> (tensor<16x256xf32>, tensor<?x16x256xf32>) {
  %w = "dl.param"() {dtype = f32, key = "w", shape = array<i64: 64, 256>} : () -> tensor<64x256xf32>
  %zero = "dl.constant"() {value = dense<0.0> : tensor<16x256xf32>} : () -> tensor<16x256xf32>
  %all = "dl.matmul"(%x, %w) : (tensor<?x16x64xf32>, tensor<64x256xf32>) -> tensor<?x16x256xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x256xf32>) {
    %j = arith.index_cast %i : index to i64
    %t = tensor.from_elements %j : tensor<i64>
    %2 = "dl.gather"(%all, %t) : (tensor<?x16x256xf32>, tensor<i64>) -> tensor<16x256xf32>
    %3 = "dl.add"(%a, %2) : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
    scf.yield %3 : tensor<16x256xf32>
  }
  return %1, %all : tensor<16x256xf32>, tensor<?x16x256xf32>
}

// -----

// CHECK-LABEL: func.func @fits
// CHECK: "dl.matmul"
// CHECK: scf.for
// CHECK-NOT: "dl.matmul"
func.func @fits(%x: tensor<4x16x64xf32>, %n: index) -> tensor<16x256xf32> {
  %w = "dl.param"() {dtype = f32, key = "w", shape = array<i64: 64, 256>} : () -> tensor<64x256xf32>
  %zero = "dl.constant"() {value = dense<0.0> : tensor<16x256xf32>} : () -> tensor<16x256xf32>
  %all = "dl.matmul"(%x, %w) : (tensor<4x16x64xf32>, tensor<64x256xf32>) -> tensor<4x16x256xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<16x256xf32>) {
    %j = arith.index_cast %i : index to i64
    %t = tensor.from_elements %j : tensor<i64>
    %2 = "dl.gather"(%all, %t) : (tensor<4x16x256xf32>, tensor<i64>) -> tensor<16x256xf32>
    %3 = "dl.add"(%a, %2) : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
    scf.yield %3 : tensor<16x256xf32>
  }
  return %1 : tensor<16x256xf32>
}

// -----

// no-match: a step takes a vector, which is no matrix to multiply.
// CHECK-LABEL: func.func @vectors
// ROW-LABEL: func.func @vectors
// ROW: "dl.matmul"
// ROW: scf.for
func.func @vectors(%x: tensor<?x64xf32>, %n: tensor<i64>, %i: tensor<256xf32>) -> tensor<256xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 64, 256>, dtype = f32} : () -> tensor<64x256xf32>
  %y = "dl.matmul"(%x, %w) : (tensor<?x64xf32>, tensor<64x256xf32>) -> tensor<?x256xf32>
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %k = %c0 to %c9 step %c1 iter_args(%a = %i) -> (tensor<256xf32>) {
    %1 = "dl.gather"(%y, %n) {axis = 0 : i64} : (tensor<?x256xf32>, tensor<i64>) -> tensor<256xf32>
    %2 = "dl.add"(%a, %1) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    scf.yield %2 : tensor<256xf32>
  }
  return %0 : tensor<256xf32>
}
