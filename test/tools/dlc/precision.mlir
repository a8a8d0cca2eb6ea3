// RUN: dlc compile %s --emit=dl --precision bf16 | filecheck %s --check-prefix=DL
// RUN: dlc compile %s --emit=asm --precision bf16 --target=cpu:znver4 | filecheck %s --check-prefix=ASM
// RUN: dlc run %s --precision bf16 --check reference --tolerance 1e-2
// RUN: not dlc run %s --precision bf16 --check reference --tolerance 1e-5 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: dlc run %s --check reference --tolerance 1e-5
// RUN: dlc explain %s --precision bf16 --target=cpu:haswell | filecheck %s --check-prefix=NOTE
// RUN: not dlc compile %s --precision f8 2>&1 | filecheck %s --check-prefix=NAME
// --precision of the commands, on a product that is faster for it whether the machine multiplies bf16 or not.

// DL: module attributes {dl.precision = "bf16"}
// ASM: vdpbf16ps
// ERROR: out0 differs from reference by more than 1e-05 relative
// NOTE: 1 of 1 products and convolutions read their weights in bf16
// NOTE-NEXT: the target has no dot products of bf16
// NAME: 'f8' is not one of 'f32', 'tf32', 'bf16'
func.func @main(%x: tensor<1x1024xf32>) -> tensor<1x1024xf32> {
  %w = "dl.constant"() {value = dense<0.3> : tensor<1024x1024xf32>} : () -> tensor<1024x1024xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  return %0 : tensor<1x1024xf32>
}
