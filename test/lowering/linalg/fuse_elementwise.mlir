// RUN: dlc-opt %s --linalg-fuse-elementwise --split-input-file --verify-diagnostics | filecheck %s
// Elementwise ops are fused into their only use, unless that would compute their elements more than once.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @into_elementwise_and_reduction(
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: math.sqrt
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @into_elementwise_and_reduction(%x: tensor<4x8xf32>, %e: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.exp %i : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.sqrt %i : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<4x8xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = arith.addf %i, %o : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// exp stays, since the contraction reads each of its elements 8 times; the cast of the other operand is fused.
// CHECK-LABEL: func.func @into_contraction(
// CHECK: %[[A:.*]] = linalg.generic
// CHECK: math.exp
// CHECK-NOT: linalg.generic {{.*}}tensor<8x16xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[A]], %{{.*}} : tensor<4x16xf32>, tensor<8x16xf16>)
// CHECK: arith.extf
// CHECK: arith.mulf
// CHECK-NOT: bufferization.dealloc_tensor
func.func @into_contraction(%x: tensor<4x16xf32>, %w: tensor<8x16xf16>, %e: tensor<4x16xf32>, %f: tensor<8x16xf32>,
                            %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.exp %i : f32
    linalg.yield %v : f32
  } -> tensor<4x16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<8x16xf16>) outs(%f : tensor<8x16xf32>) {
  ^bb0(%i: f16, %o: f32):
    %v = arith.extf %i : f16 to f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %c = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x16xf32>, tensor<8x16xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %v = arith.addf %o, %p : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

// A strided gather stays a copy, through a reshape as well: the product keeps its contiguous rows.
#s = affine_map<(d0, d1) -> (d0 * 2, d1 * 2)>
#d = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d1)>
#o = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @strided_copy(
// CHECK: %[[COPY:.*]] = linalg.generic
// CHECK: linalg.yield
// CHECK: arith.mulf
func.func @strided_copy(%x: tensor<8x8xf32>, %w: tensor<4x16xf32>, %e: tensor<4x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %t = linalg.generic {indexing_maps = [#s, #d], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  } -> tensor<4x4xf32>
  %f = tensor.collapse_shape %t [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %c = linalg.generic {indexing_maps = [#d, #r, #o], iterator_types = ["parallel", "reduction"]}
      ins(%w, %f : tensor<4x16xf32>, tensor<16xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %v = arith.addf %o, %p : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_match(
// CHECK: linalg.fill
// CHECK: linalg.matmul
func.func @no_match(%x: tensor<4x4xf32>, %e: tensor<4x4xf32>, %z: f32) -> tensor<4x4xf32> {
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

func.func @needs_tensors(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{needs linalg on tensors, found buffers; run it before linalg-bufferize-tensors}}
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// f16 that multiply whole vectors are widened once, not by each of them; vectors of f16 are widened as they are read.
// CHECK-LABEL: func.func @halves_into_contraction(
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x16xf16>)
// CHECK: arith.extf
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[A]], %arg1 : tensor<4x16xf32>, tensor<16x64xf16>)
// CHECK-NOT: linalg.generic
func.func @halves_into_contraction(%x: tensor<4x16xf16>, %w: tensor<16x64xf16>, %e: tensor<4x16xf32>, %f: tensor<16x64xf32>,
                                   %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x16xf16>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%i: f16, %o: f32):
    %v = arith.extf %i : f16 to f32
    linalg.yield %v : f32
  } -> tensor<4x16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<16x64xf16>) outs(%f : tensor<16x64xf32>) {
  ^bb0(%i: f16, %o: f32):
    %v = arith.extf %i : f16 to f32
    linalg.yield %v : f32
  } -> tensor<16x64xf32>
  %c = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x16xf32>, tensor<16x64xf32>) outs(%y : tensor<4x64xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x64xf32>
  return %c : tensor<4x64xf32>
}
