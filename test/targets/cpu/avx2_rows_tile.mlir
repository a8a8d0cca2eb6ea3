// RUN: dlc compile %s --emit=asm --target=cpu:haswell | filecheck %s
// REQUIRES: x86
// Sums along rows of both sides, 4 by 3 of them: the three rows stay in registers while the four pass, so nothing is spilled.

// CHECK-LABEL: <kernel_0_transpose_matmul_body0>:
// CHECK: vfmadd231ps {{.*}}ymm
// CHECK-NOT: rsp
// CHECK: {{j(b|l|ne|ae) }}
func.func @main(%a: tensor<16x768xf32>, %b: tensor<768x768xf32>) -> tensor<16x768xf32> {
  %t = "dl.transpose"(%b) {perm = array<i64: 1, 0>} : (tensor<768x768xf32>) -> tensor<768x768xf32>
  %0 = "dl.matmul"(%a, %t) : (tensor<16x768xf32>, tensor<768x768xf32>) -> tensor<16x768xf32>
  return %0 : tensor<16x768xf32>
}
