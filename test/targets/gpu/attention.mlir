// RUN: dlc compile %s --target=gpu:sm_80 --emit=ptx | filecheck %s
// RUN: dlc explain %s --target=gpu:sm_80 --json | filecheck %s --check-prefix=EXPLAIN
// Attention of f16 is one kernel of a model, without memory for scores; that of f32 is told of.

// CHECK: .visible .entry kernel_0_attention_kernel
// CHECK: shfl.sync.bfly.b32 %{{.*}}, 2, 31, -1;
// CHECK: ex2.approx.ftz.f32
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// EXPLAIN: "name": "kernel_0_attention_kernel"
// EXPLAIN: "uncoalesced": 0
// EXPLAIN: "bank_ways": 1
// EXPLAIN-NEXT: "tensor_cores": "m16n8k16.f16"
// EXPLAIN: attention in kernel_1_attention is not one kernel on tensor cores: elements are f32; weights stay in registers for f16 and bf16 alone
func.func @main(%a: tensor<1x4x512x64xf16>, %b: tensor<1x4x512x64xf32>) -> (tensor<1x4x512x64xf16>, tensor<1x4x512x64xf32>) {
  %0 = "dl.attention"(%a, %a, %a) {is_causal = true} : (tensor<1x4x512x64xf16>, tensor<1x4x512x64xf16>, tensor<1x4x512x64xf16>) -> tensor<1x4x512x64xf16>
  %1 = "dl.attention"(%b, %b, %b) : (tensor<1x4x512x64xf32>, tensor<1x4x512x64xf32>, tensor<1x4x512x64xf32>) -> tensor<1x4x512x64xf32>
  return %0, %1 : tensor<1x4x512x64xf16>, tensor<1x4x512x64xf32>
}
