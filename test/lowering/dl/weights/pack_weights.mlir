// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --dl-pack-weights=least=1024 | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --dl-pack-weights=least=1024 --dl-pack-weights=least=1024 | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --dl-pack-weights | filecheck %s --check-prefix=SMALL
// RUN: not dlc-opt %s --dl-set-target=target=skylake-avx512 --dl-pack-weights=least=-1 2>&1 | filecheck %s --check-prefix=LEAST
// RUN: dlc-opt %s --dl-set-target=target=haswell --dl-pack-weights=least=1024 | filecheck %s --check-prefix=FEW
// Large matrices of weights come in blocks of columns.

// LEAST: error: {{.*}}least is -1; give a number of bytes, 0 or more

// no-match: matrices that are small.
// SMALL-NOT: dl.packed_matmul

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[H:.*]]: tensor<2x3x16xbf16>)
// CHECK: %[[SPLIT:.*]] = "dl.reshape"(%{{.*}}) {shape = array<i64: 8, 2, 48>}
// CHECK: %[[PACKED:.*]] = "dl.transpose"(%[[SPLIT]]) {perm = array<i64: 1, 0, 2>}
// CHECK: "dl.packed_matmul"(%[[X]], %[[PACKED]]) : (tensor<?x8xf32>, tensor<2x8x48xf32>) -> tensor<?x96xf32>
// CHECK: "dl.packed_matmul"(%[[H]], %{{.*}}) : (tensor<2x3x16xbf16>, tensor<1x16x64xbf16>) -> tensor<2x3x64xbf16>
func.func @blocks(%x: tensor<?x8xf32>, %h: tensor<2x3x16xbf16>) -> (tensor<?x96xf32>, tensor<2x3x64xbf16>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 96>, dtype = f32} : () -> tensor<8x96xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<?x8xf32>, tensor<8x96xf32>) -> tensor<?x96xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 16, 64>, dtype = bf16} : () -> tensor<16x64xbf16>
  %1 = "dl.matmul"(%h, %v) : (tensor<2x3x16xbf16>, tensor<16x64xbf16>) -> tensor<2x3x64xbf16>
  return %0, %1 : tensor<?x96xf32>, tensor<2x3x64xbf16>
}

// Zeros fill the last block of the width that needs the fewest; the product knows its columns.
// CHECK-LABEL: func.func @filled(
// CHECK: %[[PADDED:.*]] = "dl.pad"(%{{.*}}) {{.*}} : (tensor<8x95xf32>) -> tensor<8x96xf32>
// CHECK: "dl.packed_matmul"(%{{.*}}, %{{.*}}) {columns = 95 : i64} : (tensor<4x8xf32>, tensor<2x8x48xf32>) -> tensor<4x95xf32>
func.func @filled(%x: tensor<4x8xf32>) -> tensor<4x95xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 8, 95>, dtype = f32} : () -> tensor<8x95xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<4x8xf32>, tensor<8x95xf32>) -> tensor<4x95xf32>
  return %0 : tensor<4x95xf32>
}

// Few registers: blocks have the columns of a tile, two vectors, or one where that is less to fill up; elements of 64 bits are half as many.
// FEW-LABEL: func.func @registers(
// FEW: (tensor<4x16xf32>, tensor<6x16x16xf32>) -> tensor<4x96xf32>
// FEW: {columns = 39 : i64} : (tensor<4x16xf32>, tensor<5x16x8xf32>) -> tensor<4x39xf32>
// FEW: (tensor<4x16xf64>, tensor<12x16x8xf64>) -> tensor<4x96xf64>
// FEW: (tensor<4x16xf16>, tensor<6x16x16xf16>) -> tensor<4x96xf16>
func.func @registers(%x: tensor<4x16xf32>, %d: tensor<4x16xf64>, %h: tensor<4x16xf16>) -> (tensor<4x96xf32>, tensor<4x39xf32>, tensor<4x96xf64>, tensor<4x96xf16>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 16, 96>, dtype = f32} : () -> tensor<16x96xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<4x16xf32>, tensor<16x96xf32>) -> tensor<4x96xf32>
  %u = "dl.param"() {key = "u", shape = array<i64: 16, 39>, dtype = f32} : () -> tensor<16x39xf32>
  %1 = "dl.matmul"(%x, %u) : (tensor<4x16xf32>, tensor<16x39xf32>) -> tensor<4x39xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 16, 96>, dtype = f64} : () -> tensor<16x96xf64>
  %2 = "dl.matmul"(%d, %v) : (tensor<4x16xf64>, tensor<16x96xf64>) -> tensor<4x96xf64>
  %s = "dl.param"() {key = "s", shape = array<i64: 16, 96>, dtype = f16} : () -> tensor<16x96xf16>
  %3 = "dl.matmul"(%h, %s) : (tensor<4x16xf16>, tensor<16x96xf16>) -> tensor<4x96xf16>
  return %0, %1, %2, %3 : tensor<4x96xf32>, tensor<4x39xf32>, tensor<4x96xf64>, tensor<4x96xf16>
}

// no-match: a computed matrix, and a batch of matrices.
// CHECK-LABEL: func.func @left(
// CHECK-COUNT-2: "dl.matmul"
func.func @left(%x: tensor<4x8xf32>, %y: tensor<8x96xf32>) -> (tensor<4x96xf32>, tensor<2x4x96xf32>) {
  %0 = "dl.matmul"(%x, %y) : (tensor<4x8xf32>, tensor<8x96xf32>) -> tensor<4x96xf32>
  %w = "dl.param"() {key = "w", shape = array<i64: 2, 8, 96>, dtype = f32} : () -> tensor<2x8x96xf32>
  %1 = "dl.matmul"(%x, %w) : (tensor<4x8xf32>, tensor<2x8x96xf32>) -> tensor<2x4x96xf32>
  return %0, %1 : tensor<4x96xf32>, tensor<2x4x96xf32>
}

// A convolution of single pixels with channels last is a product; its bias is added.
// CHECK-LABEL: func.func @pointwise(
// CHECK: %[[M:.*]] = "dl.reshape"(%{{.*}}) {shape = array<i64: 8, 40>}
// CHECK: %[[PADDED:.*]] = "dl.pad"(%[[M]]) {{.*}} : (tensor<8x40xf32>) -> tensor<8x48xf32>
// CHECK: %[[Y:.*]] = "dl.packed_matmul"(%{{.*}}, %{{.*}}) {columns = 40 : i64} : (tensor<1x5x5x8xf32>, tensor<1x8x48xf32>) -> tensor<1x5x5x40xf32>
// CHECK: "dl.add"(%[[Y]], %{{.*}})
func.func @pointwise(%x: tensor<1x5x5x8xf32>) -> tensor<1x5x5x40xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 1, 1, 8, 40>, dtype = f32} : () -> tensor<1x1x8x40xf32>
  %b = "dl.param"() {key = "b", shape = array<i64: 40>, dtype = f32} : () -> tensor<40xf32>
  %0 = "dl.conv"(%x, %w, %b) {channels_last = true} : (tensor<1x5x5x8xf32>, tensor<1x1x8x40xf32>, tensor<40xf32>) -> tensor<1x5x5x40xf32>
  return %0 : tensor<1x5x5x40xf32>
}

// no-match: taps that are not single pixels, steps, channels first.
// CHECK-LABEL: func.func @windows(
// CHECK-NOT: dl.packed_matmul
func.func @windows(%x: tensor<1x5x5x8xf32>, %y: tensor<1x8x5x5xf32>) -> (tensor<1x4x5x40xf32>, tensor<1x3x3x40xf32>, tensor<1x40x5x5xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 2, 1, 8, 40>, dtype = f32} : () -> tensor<2x1x8x40xf32>
  %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x5x5x8xf32>, tensor<2x1x8x40xf32>) -> tensor<1x4x5x40xf32>
  %v = "dl.param"() {key = "v", shape = array<i64: 1, 1, 8, 40>, dtype = f32} : () -> tensor<1x1x8x40xf32>
  %1 = "dl.conv"(%x, %v) {channels_last = true, strides = array<i64: 2, 2>} : (tensor<1x5x5x8xf32>, tensor<1x1x8x40xf32>) -> tensor<1x3x3x40xf32>
  %u = "dl.param"() {key = "u", shape = array<i64: 40, 8, 1, 1>, dtype = f32} : () -> tensor<40x8x1x1xf32>
  %2 = "dl.conv"(%y, %u) : (tensor<1x8x5x5xf32>, tensor<40x8x1x1xf32>) -> tensor<1x40x5x5xf32>
  return %0, %1, %2 : tensor<1x4x5x40xf32>, tensor<1x3x3x40xf32>, tensor<1x40x5x5xf32>
}

// A product keeps the type that it is declared with.
// CHECK-LABEL: func.func @declared(
// CHECK: "dl.packed_matmul"(%arg0, {{.*}} : (tensor<4x16xf32>, {{.*}}) -> tensor<?x20xf32>
func.func @declared(%x: tensor<4x16xf32>) -> tensor<?x20xf32> {
  %w = "dl.param"() {key = "w", shape = array<i64: 16, 20>, dtype = f32} : () -> tensor<16x20xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<4x16xf32>, tensor<16x20xf32>) -> tensor<?x20xf32>
  return %0 : tensor<?x20xf32>
}
