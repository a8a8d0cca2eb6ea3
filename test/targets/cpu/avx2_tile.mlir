// RUN: dlc compile %s --emit=asm --target=cpu:haswell | filecheck %s
// REQUIRES: x86
// The inner loop of a product, for which blocks of the right side are copied, keeps its accumulators in the 16 registers of AVX2.

// CHECK-LABEL: <kernel_0_matmul_body0>:
// CHECK: vfmadd231ps {{.*}}ymm
// CHECK-NOT: rsp
// CHECK: {{j(b|l|ne|ae) }}
func.func @main(%a: tensor<128x512xf32>, %b: tensor<512x512xf32>) -> tensor<128x512xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<128x512xf32>, tensor<512x512xf32>) -> tensor<128x512xf32>
  return %0 : tensor<128x512xf32>
}
