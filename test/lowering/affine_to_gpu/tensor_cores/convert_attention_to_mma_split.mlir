// RUN: dlc-opt %s --dl-set-target=target=gpu:sm_90 --dl-to-linalg --linalg-to-affine --affine-outline-checks --convert-attention-to-mma | filecheck %s
// The pass refuses nothing. One query for all keys: sixteen lanes have a key, two keys of a warp side by side, eight of a thread.

// CHECK-LABEL: func.func private @{{.*}}attention
// CHECK-NOT: dlc.not_fused
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func {{.*}} blocks in (%{{.*}}) threads in
// CHECK: gpu.func @{{.*}} workgroup(%[[M:.*]] : memref<16x1x66xf32, #gpu.address_space<workgroup>>)
// The query is loaded once, keys and values of a step before what is computed of them.
// CHECK: vector.load %{{.*}} {alignment = 16 : i64}
// CHECK: affine.for %{{.*}} = 0 to 4 iter_args
// CHECK-COUNT-16: vector.load
// CHECK: math.fma
// CHECK: gpu.shuffle xor
// CHECK: nvvm.ex2
// CHECK: math.fma
// CHECK: affine.yield
// Groups of lanes meet in shared memory.
// CHECK: memref.store %{{.*}}, %[[M]]
// CHECK: gpu.barrier
// CHECK-COUNT-48: memref.load %[[M]]
// CHECK: nvvm.ex2
// CHECK: arith.divf
func.func @decode(%q: tensor<1x12x1x64xf32>, %k: tensor<1x12x512x64xf32>, %v: tensor<1x12x512x64xf32>) -> tensor<1x12x1x64xf32> {
  %0 = "dl.attention"(%q, %k, %v) : (tensor<1x12x1x64xf32>, tensor<1x12x512x64xf32>, tensor<1x12x512x64xf32>) -> tensor<1x12x1x64xf32>
  return %0 : tensor<1x12x1x64xf32>
}
