// RUN: dlc-opt %s --dl-set-target=target=haswell --linalg-fuse-elementwise | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --linalg-fuse-elementwise | filecheck %s --check-prefix=WIDE
// Transposes into products are stored where registers are few and the rows side by side are short. Refuses nothing.

#k_first = affine_map<(p, k) -> (k, p)>
#id = affine_map<(p, k) -> (p, k)>
#a = affine_map<(p, n, k) -> (p, k)>
#b = affine_map<(p, n, k) -> (k, n)>
#c = affine_map<(p, n, k) -> (p, n)>

// CHECK-LABEL: func.func @short(
// CHECK: %[[T:.*]] = linalg.generic {{.*}}"parallel", "parallel"]} ins(%arg0
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%[[T]], %arg1
// WIDE-LABEL: func.func @short(
// WIDE: linalg.generic {{.*}}"reduction"]} ins(%arg0, %arg1
func.func @short(%x: tensor<256x49xf32>, %w: tensor<256x64xf32>, %y: tensor<49x64xf32>) -> tensor<49x64xf32> {
  %e = tensor.empty() : tensor<49x256xf32>
  %t = linalg.generic {indexing_maps = [#k_first, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<256x49xf32>) outs(%e : tensor<49x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<49x256xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%t, %w : tensor<49x256xf32>, tensor<256x64xf32>) outs(%y : tensor<49x64xf32>) {
  ^bb0(%l: f32, %m: f32, %acc: f32):
    %p = arith.mulf %l, %m : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<49x64xf32>
  return %r : tensor<49x64xf32>
}

// no-match: 196 pixels side by side are read as they are.
// CHECK-LABEL: func.func @long(
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%arg0, %arg1
func.func @long(%x: tensor<256x196xf32>, %w: tensor<256x64xf32>, %y: tensor<196x64xf32>) -> tensor<196x64xf32> {
  %e = tensor.empty() : tensor<196x256xf32>
  %t = linalg.generic {indexing_maps = [#k_first, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<256x196xf32>) outs(%e : tensor<196x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<196x256xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%t, %w : tensor<196x256xf32>, tensor<256x64xf32>) outs(%y : tensor<196x64xf32>) {
  ^bb0(%l: f32, %m: f32, %acc: f32):
    %p = arith.mulf %l, %m : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<196x64xf32>
  return %r : tensor<196x64xf32>
}

// A copy of a scalar moves no dims, and a scalar beside a transpose has none.
// CHECK-LABEL: func.func @scalars(
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%arg0, %arg1
#none = affine_map<() -> ()>
#once = affine_map<(d0, d1) -> ()>
#rows = affine_map<(d0, d1) -> (d0)>
func.func @scalars(%x: tensor<f32>, %w: tensor<4x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<f32>
  %t = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%x : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<f32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %u = linalg.generic {indexing_maps = [#k_first, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<4x4xf32>) outs(%e2 : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#once, #id, #rows], iterator_types = ["parallel", "reduction"]} ins(%t, %u : tensor<f32>, tensor<4x4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%l: f32, %m: f32, %acc: f32):
    %p = arith.mulf %l, %m : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
