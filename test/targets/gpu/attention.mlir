// RUN: dlc compile %s --target=gpu:sm_80 --emit=ptx | filecheck %s
// RUN: dlc explain %s --target=gpu:sm_80 --json | filecheck %s --check-prefix=EXPLAIN
// Attention of f16 and of f32 is one kernel each, without memory for scores; that of f64 is told of.

// CHECK: .visible .entry kernel_0_attention_kernel
// CHECK: shfl.sync.bfly.b32 %{{.*}}, 2, 31, -1;
// CHECK: ex2.approx.ftz.f32
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: .visible .entry kernel_1_attention_kernel
// CHECK: fma.rn.f32
// CHECK: bar.warp.sync -1;
// EXPLAIN: attention in kernel_2_attention is not one kernel: elements are f64; kernels of attention multiply f16, bf16 or f32 alone
// EXPLAIN: "name": "kernel_0_attention_kernel"
// EXPLAIN: "uncoalesced": 0
// EXPLAIN: "bank_ways": 1
// EXPLAIN-NEXT: "tensor_cores": "m16n8k16.f16"
// EXPLAIN: "name": "kernel_1_attention_kernel"
// EXPLAIN: "uncoalesced": 0
func.func @main(%a: tensor<1x4x512x64xf16>, %b: tensor<1x4x512x64xf32>, %c: tensor<1x4x512x64xf64>) -> (tensor<1x4x512x64xf16>, tensor<1x4x512x64xf32>, tensor<1x4x512x64xf64>) {
  %0 = "dl.attention"(%a, %a, %a) {is_causal = true} : (tensor<1x4x512x64xf16>, tensor<1x4x512x64xf16>, tensor<1x4x512x64xf16>) -> tensor<1x4x512x64xf16>
  %1 = "dl.attention"(%b, %b, %b) : (tensor<1x4x512x64xf32>, tensor<1x4x512x64xf32>, tensor<1x4x512x64xf32>) -> tensor<1x4x512x64xf32>
  %2 = "dl.attention"(%c, %c, %c) : (tensor<1x4x512x64xf64>, tensor<1x4x512x64xf64>, tensor<1x4x512x64xf64>) -> tensor<1x4x512x64xf64>
  return %0, %1, %2 : tensor<1x4x512x64xf16>, tensor<1x4x512x64xf32>, tensor<1x4x512x64xf64>
}
