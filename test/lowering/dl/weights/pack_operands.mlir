// RUN: dlc-opt %s --dl-pack-operands | filecheck %s
// RUN: dlc-opt %s --dl-pack-operands --dl-pack-operands | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=znver3 --dl-pack-operands | filecheck %s --check-prefix=FEW
// RUN: dlc-opt %s --dl-pack-operands --dl-fuse-kernels | filecheck %s --check-prefix=APART
// Products read copies of computed matrices, in kernels of their own, where rows enough pay for them.
// The pass refuses nothing.

module attributes {dlc.target = {features = ["avx512f"], l2_bytes = 65536 : i64}} {
  // A transposed matrix comes in blocks of columns.
  // CHECK-LABEL: func.func @turned(
  // CHECK-SAME: %[[X:.*]]: tensor<2x50x64xf32>, %[[Y:.*]]: tensor<96x64xf32>)
  // CHECK: %[[PACKED:.*]] = "dl.kernel"() ({
  // CHECK: %[[SPLIT:.*]] = "dl.reshape"(%[[Y]]) {shape = array<i64: 2, 48, 64>}
  // CHECK: %[[TURNED:.*]] = "dl.transpose"(%[[SPLIT]]) {perm = array<i64: 0, 2, 1>}
  // CHECK: "dl.yield"(%[[TURNED]])
  // CHECK: "dl.packed_matmul"(%[[X]], %[[PACKED]]) : (tensor<2x50x64xf32>, tensor<2x64x48xf32>) -> tensor<2x50x96xf32>
  // APART-LABEL: func.func @turned(
  // APART: "dl.kernel"
  // APART: "dl.transpose"
  // APART: "dl.kernel"
  // APART: "dl.packed_matmul"
  func.func @turned(%x: tensor<2x50x64xf32>, %y: tensor<96x64xf32>) -> tensor<2x50x96xf32> {
    %0 = "dl.transpose"(%y) {perm = array<i64: 1, 0>} : (tensor<96x64xf32>) -> tensor<64x96xf32>
    %1 = "dl.matmul"(%x, %0) : (tensor<2x50x64xf32>, tensor<64x96xf32>) -> tensor<2x50x96xf32>
    return %1 : tensor<2x50x96xf32>
  }

  // One of a batch, or of a width that no block divides, is turned as a whole.
  // CHECK-LABEL: func.func @whole(
  // CHECK: %[[A:.*]] = "dl.kernel"
  // CHECK: "dl.transpose"(%{{.*}}) {perm = array<i64: 0, 2, 1>} : (tensor<2x96x64xf32>) -> tensor<2x64x96xf32>
  // CHECK: "dl.matmul"(%{{.*}}, %[[A]])
  // CHECK: %[[B:.*]] = "dl.kernel"
  // CHECK: "dl.transpose"(%{{.*}}) {perm = array<i64: 1, 0>} : (tensor<97x64xf32>) -> tensor<64x97xf32>
  // CHECK: "dl.matmul"(%{{.*}}, %[[B]])
  func.func @whole(%x: tensor<2x50x64xf32>, %y: tensor<2x96x64xf32>, %z: tensor<97x64xf32>) -> (tensor<2x50x96xf32>, tensor<2x50x97xf32>) {
    %0 = "dl.transpose"(%y) {perm = array<i64: 0, 2, 1>} : (tensor<2x96x64xf32>) -> tensor<2x64x96xf32>
    %1 = "dl.matmul"(%x, %0) : (tensor<2x50x64xf32>, tensor<2x64x96xf32>) -> tensor<2x50x96xf32>
    %2 = "dl.transpose"(%z) {perm = array<i64: 1, 0>} : (tensor<97x64xf32>) -> tensor<64x97xf32>
    %3 = "dl.matmul"(%x, %2) : (tensor<2x50x64xf32>, tensor<64x97xf32>) -> tensor<2x50x97xf32>
    return %1, %3 : tensor<2x50x96xf32>, tensor<2x50x97xf32>
  }

  // Rows that share few places of the second-level cache.
  // CHECK-LABEL: func.func @strided(
  // CHECK-SAME: %{{.*}}: tensor<96x128xf32>, %[[Y:.*]]: tensor<128x1024xf32>)
  // CHECK: %[[PACKED:.*]] = "dl.kernel"
  // CHECK: %[[SPLIT:.*]] = "dl.reshape"(%[[Y]]) {shape = array<i64: 128, 16, 64>}
  // CHECK: "dl.transpose"(%[[SPLIT]]) {perm = array<i64: 1, 0, 2>}
  // CHECK: "dl.packed_matmul"(%{{.*}}, %[[PACKED]])
  func.func @strided(%x: tensor<96x128xf32>, %y: tensor<128x1024xf32>) -> tensor<96x1024xf32> {
    %0 = "dl.matmul"(%x, %y) : (tensor<96x128xf32>, tensor<128x1024xf32>) -> tensor<96x1024xf32>
    return %0 : tensor<96x1024xf32>
  }

  // no-match: few rows; rows that are spread over the cache; a width that no block divides; a transpose that keeps columns; weights;
  // integers; sizes that are not known.
  // CHECK-LABEL: func.func @left(
  // CHECK-NOT: dl.kernel
  // CHECK-NOT: dl.packed_matmul
  func.func @left(%few: tensor<2x128xf32>, %x: tensor<96x128xf32>, %y: tensor<128x1024xf32>, %z: tensor<1024x128xf32>, %spread: tensor<128x1040xf32>,
      %odd: tensor<128x1032xf32>, %heads: tensor<128x2x64xf32>, %bytes: tensor<96x128xi32>, %others: tensor<64x128xi32>, %n: tensor<?x128xf32>)
      -> (tensor<2x1024xf32>, tensor<2x1024xf32>, tensor<96x1040xf32>, tensor<96x1032xf32>, tensor<2x96x64xf32>, tensor<96x96xf32>, tensor<96x64xi32>, tensor<?x1024xf32>) {
    %0 = "dl.matmul"(%few, %y) : (tensor<2x128xf32>, tensor<128x1024xf32>) -> tensor<2x1024xf32>
    %t = "dl.transpose"(%z) {perm = array<i64: 1, 0>} : (tensor<1024x128xf32>) -> tensor<128x1024xf32>
    %1 = "dl.matmul"(%few, %t) : (tensor<2x128xf32>, tensor<128x1024xf32>) -> tensor<2x1024xf32>
    %2 = "dl.matmul"(%x, %spread) : (tensor<96x128xf32>, tensor<128x1040xf32>) -> tensor<96x1040xf32>
    %3 = "dl.matmul"(%x, %odd) : (tensor<96x128xf32>, tensor<128x1032xf32>) -> tensor<96x1032xf32>
    %h = "dl.transpose"(%heads) {perm = array<i64: 1, 0, 2>} : (tensor<128x2x64xf32>) -> tensor<2x128x64xf32>
    %4 = "dl.matmul"(%x, %h) : (tensor<96x128xf32>, tensor<2x128x64xf32>) -> tensor<2x96x64xf32>
    %w = "dl.param"() {key = "w", shape = array<i64: 96, 128>, dtype = f32} : () -> tensor<96x128xf32>
    %wt = "dl.transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<96x128xf32>) -> tensor<128x96xf32>
    %5 = "dl.matmul"(%x, %wt) : (tensor<96x128xf32>, tensor<128x96xf32>) -> tensor<96x96xf32>
    %bt = "dl.transpose"(%others) {perm = array<i64: 1, 0>} : (tensor<64x128xi32>) -> tensor<128x64xi32>
    %6 = "dl.matmul"(%bytes, %bt) : (tensor<96x128xi32>, tensor<128x64xi32>) -> tensor<96x64xi32>
    %7 = "dl.matmul"(%n, %y) : (tensor<?x128xf32>, tensor<128x1024xf32>) -> tensor<?x1024xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x1024xf32>, tensor<2x1024xf32>, tensor<96x1040xf32>, tensor<96x1032xf32>, tensor<2x96x64xf32>, tensor<96x96xf32>, tensor<96x64xi32>, tensor<?x1024xf32>
  }

  // Few registers: blocks of 16 columns, for 64 rows, or 32 where rows of the matrix lie in one set of L1.
  // FEW-LABEL: func.func @narrow(
  // FEW: "dl.reshape"(%{{.*}}) {shape = array<i64: 768, 48, 16>}
  // FEW: "dl.packed_matmul"(%{{.*}}) : (tensor<2x32x768xf32>
  // FEW: "dl.matmul"(%{{.*}}) : (tensor<3x21x768xf32>
  // FEW: "dl.packed_matmul"(%{{.*}}) : (tensor<2x16x768xf32>, tensor<64x768x16xf32>
  func.func @narrow(%x: tensor<2x32x768xf32>, %fewer: tensor<3x21x768xf32>, %few: tensor<2x16x768xf32>, %y: tensor<768x768xf32>, %z: tensor<768x1024xf32>)
      -> (tensor<2x32x768xf32>, tensor<3x21x768xf32>, tensor<2x16x1024xf32>) {
    %0 = "dl.matmul"(%x, %y) : (tensor<2x32x768xf32>, tensor<768x768xf32>) -> tensor<2x32x768xf32>
    %1 = "dl.matmul"(%fewer, %y) : (tensor<3x21x768xf32>, tensor<768x768xf32>) -> tensor<3x21x768xf32>
    %2 = "dl.matmul"(%few, %z) : (tensor<2x16x768xf32>, tensor<768x1024xf32>) -> tensor<2x16x1024xf32>
    return %0, %1, %2 : tensor<2x32x768xf32>, tensor<3x21x768xf32>, tensor<2x16x1024xf32>
  }

  // Up to 192 rows of one matrix the tiles copy blocks themselves.
  // CHECK-LABEL: func.func @later(
  // CHECK: "dl.packed_matmul"(%{{.*}}) : (tensor<192x768xf32>
  // FEW-LABEL: func.func @later(
  // FEW: "dl.matmul"(%{{.*}}) : (tensor<192x768xf32>
  // FEW: "dl.packed_matmul"(%{{.*}}) : (tensor<193x768xf32>
  func.func @later(%x: tensor<192x768xf32>, %more: tensor<193x768xf32>, %y: tensor<768x768xf32>) -> (tensor<192x768xf32>, tensor<193x768xf32>) {
    %0 = "dl.matmul"(%x, %y) : (tensor<192x768xf32>, tensor<768x768xf32>) -> tensor<192x768xf32>
    %1 = "dl.matmul"(%more, %y) : (tensor<193x768xf32>, tensor<768x768xf32>) -> tensor<193x768xf32>
    return %0, %1 : tensor<192x768xf32>, tensor<193x768xf32>
  }
}
