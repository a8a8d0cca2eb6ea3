// RUN: dlc-opt %s --linalg-reuse-operands --split-input-file --verify-diagnostics | filecheck %s
// Elementwise ops write over an operand that dies; ops that start from the same fill get one each.

#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func private @chain
// CHECK: %[[E:.*]] = linalg.exp
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%[[E]] : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[OLD:.*]]: f32):
// CHECK-NEXT: arith.addf %[[OLD]], %[[OLD]]
// CHECK: return %[[Y]]
func.func private @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.addf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func private @fills
// CHECK: %[[F:.*]] = linalg.fill
// CHECK-NEXT: linalg.reduce {{.*}} outs(%[[F]] : tensor<4xf32>)
// CHECK: %[[G:.*]] = linalg.fill
// CHECK-NEXT: linalg.reduce {{.*}} outs(%[[G]] : tensor<4xf32>)
// CHECK-NOT: linalg.fill
// CHECK: return
func.func private @fills(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  return %s, %m : tensor<4xf32>, tensor<4xf32>
}

// -----

// no-match: an argument, a value that is read later, and one that is indexed in another way.
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
// CHECK-LABEL: func.func private @kept
// CHECK: %[[E:.*]] = tensor.empty
// CHECK-COUNT-3: linalg.generic {{.*}} outs(%[[E]] : tensor<4x4xf32>)
func.func private @kept(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.addf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<4x4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<4x4xf32>
  %c = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %0 = arith.mulf %i, %i : f32
    linalg.yield %0 : f32
  } -> tensor<4x4xf32>
  return %a, %b, %c : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

func.func private @buffers(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{needs linalg on tensors, found buffers; run it before linalg-bufferize-tensors}}
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
