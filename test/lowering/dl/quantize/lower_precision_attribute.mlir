// RUN: dlc-opt %s --split-input-file --dl-set-target=target=znver4 --dl-lower-precision --verify-diagnostics | filecheck %s
// What the module's attribute says.

// CHECK-LABEL: func.func @allowed(
// CHECK: dl.vnni_matmul
module attributes {dl.precision = "bf16"} {
  func.func @allowed(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 1, 8, 16>, dtype = f32} : () -> tensor<1x8x16xf32>
    %0 = "dl.packed_matmul"(%x, %w) : (tensor<4x8xf32>, tensor<1x8x16xf32>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
}

// -----

// CHECK-LABEL: func.func @exact(
// CHECK-NOT: dl.vnni_matmul
module attributes {dl.precision = "f32"} {
  func.func @exact(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
    %w = "dl.param"() {key = "w", shape = array<i64: 1, 8, 16>, dtype = f32} : () -> tensor<1x8x16xf32>
    %0 = "dl.packed_matmul"(%x, %w) : (tensor<4x8xf32>, tensor<1x8x16xf32>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
}

// -----

// expected-error @+1 {{dl.precision is "f8"; give one of f32, tf32, bf16 as a string}}
module attributes {dl.precision = "f8"} {
  func.func @unknown(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    return %x : tensor<4x8xf32>
  }
}

// -----

// expected-error @+1 {{dl.precision is 16 : i64; give one of f32, tf32, bf16 as a string}}
module attributes {dl.precision = 16 : i64} {
  func.func @number(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    return %x : tensor<4x8xf32>
  }
}
