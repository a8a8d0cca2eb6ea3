// RUN: dlc-opt %s --convert-dl-to-linalg | filecheck %s
// Arithmetic becomes one generic; f16 and bf16 compute in f32, integer division is guarded, dims are repeated only where they may be 1.

// CHECK-LABEL: func.func @bf16(
// CHECK-SAME: %[[X:.*]]: tensor<4xbf16>, %[[Y:.*]]: tensor<bf16>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[X]], %[[Y]] : tensor<4xbf16>, tensor<bf16>)
// CHECK: %[[A:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[B:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK: arith.truncf %[[SUM]] : f32 to bf16
func.func @bf16(%x: tensor<4xbf16>, %y: tensor<bf16>) -> tensor<4xbf16> {
  %0 = "dl.add"(%x, %y) : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @equal_symbols(
// CHECK-NOT: scf.if
// CHECK: linalg.generic
func.func @equal_symbols(%x: tensor<?xf32> {dl.dims = ["n"]}, %y: tensor<?xf32> {dl.dims = ["n"]}) -> tensor<?xf32> {
  %0 = "dl.mul"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @unknown_dims(
// CHECK-COUNT-2: scf.if
// CHECK: arith.mulf
func.func @unknown_dims(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "dl.mul"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @guarded_division(
// CHECK: %[[SAFE:.*]] = arith.select
// CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[Q]] : i32
func.func @guarded_division(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "dl.div"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: tensor<4xi8>
// CHECK: arith.maxui
// CHECK: arith.uitofp
func.func @unsigned(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xf32> {
  %0 = "dl.max"(%x, %y) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %1 = "dl.cast"(%0) {to = f32} : (tensor<4xui8>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @clip_without_bounds(
// CHECK-NOT: arith.cmpf
// CHECK: return
func.func @clip_without_bounds(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dl.clip"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A rounding that may flush subnormal numbers says so.
// CHECK-LABEL: func.func @flushes(
// CHECK: arith.truncf %{{.*}} fastmath<afn> : f32 to bf16
// CHECK: arith.truncf %{{[a-z0-9_]+}} : f32 to bf16
func.func @flushes(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %0 = "dl.cast"(%x) {to = bf16, flush = true} : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = "dl.cast"(%x) {to = bf16} : (tensor<4xf32>) -> tensor<4xbf16>
  return %0, %1 : tensor<4xbf16>, tensor<4xbf16>
}
