// RUN: dlc-opt %s --linalg-bufferize-tensors --split-input-file --verify-diagnostics | filecheck %s
// Tensors become row-major memrefs; public functions own their results and leave their arguments alone.

// CHECK-LABEL: func.func @fresh(
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32> {dl.name = "x"}) -> (memref<?x4xf32> {dl.name = "y"})
// CHECK: %[[Y:.*]] = memref.alloc(%{{.*}}) : memref<?x4xf32>
// CHECK-NEXT: linalg.exp ins(%[[X]] : memref<?x4xf32>) outs(%[[Y]] : memref<?x4xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @fresh(%x: tensor<?x4xf32> {dl.name = "x"}) -> (tensor<?x4xf32> {dl.name = "y"}) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// An argument that is returned, and returned twice, is copied for each result.
// CHECK-LABEL: func.func @argument(
// CHECK-SAME: %[[X:.*]]: memref<4xi8>)
// CHECK: %[[A:.*]] = memref.alloc() : memref<4xi8>
// CHECK: memref.copy %[[X]], %[[A]]
// CHECK: %[[B:.*]] = memref.alloc() : memref<4xi8>
// CHECK: memref.copy %[[X]], %[[B]]
// CHECK: return %[[A]], %[[B]]
func.func @argument(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  return %x, %x : tensor<4xi8>, tensor<4xi8>
}

// CHECK-LABEL: func.func @constant(
// CHECK: %[[C:.*]] = memref.get_global @{{.*}} : memref<3xi1>
// CHECK: %[[A:.*]] = memref.alloc() : memref<3xi1>
// CHECK: memref.copy %[[C]], %[[A]]
// CHECK: return %[[A]]
func.func @constant() -> tensor<3xi1> {
  %c = arith.constant dense<[true, false, true]> : tensor<3xi1>
  return %c : tensor<3xi1>
}

// A view of another result gets memory of its own.
// CHECK-LABEL: func.func @view_of_result(
// CHECK: %[[A:.*]] = memref.alloc() : memref<4x4xbf16>
// CHECK: %[[V:.*]] = memref.collapse_shape %[[A]]
// CHECK: %[[B:.*]] = memref.alloc() : memref<16xbf16>
// CHECK: memref.copy %[[V]], %[[B]]
// CHECK: return %[[A]], %[[B]]
func.func @view_of_result(%v: bf16) -> (tensor<4x4xbf16>, tensor<16xbf16>) {
  %e = tensor.empty() : tensor<4x4xbf16>
  %f = linalg.fill ins(%v : bf16) outs(%e : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %c = tensor.collapse_shape %f [[0, 1]] : tensor<4x4xbf16> into tensor<16xbf16>
  return %f, %c : tensor<4x4xbf16>, tensor<16xbf16>
}

// Memory that a callee allocates and its loops carry is not copied.
// CHECK-LABEL: func.func @carried(
// CHECK-NEXT: %[[R:.*]] = call @rows(
// CHECK-NEXT: return %[[R]]
func.func @carried(%n: index) -> tensor<?xf32> {
  %r = call @rows(%n) : (index) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func private @rows(%n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e, %p = %c0) -> (tensor<?xf32>, index) {
    %s:2 = scf.for %j = %c0 to %c1 step %c1 iter_args(%b = %a, %q = %p) -> (tensor<?xf32>, index) {
      %t = tensor.insert %v into %b[%q] : tensor<?xf32>
      %u = arith.addi %q, %c1 : index
      scf.yield %t, %u : tensor<?xf32>, index
    }
    scf.yield %s#0, %s#1 : tensor<?xf32>, index
  }
  return %r#0 : tensor<?xf32>
}

// An update in place of an argument works on a copy.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[X:.*]]: memref<4xf16>)
// CHECK: %[[A:.*]] = memref.alloc() : memref<4xf16>
// CHECK-NOT: outs(%[[X]]
// CHECK: return %[[A]]
func.func @update(%x: tensor<4xf16>) -> tensor<4xf16> {
  %y = linalg.add ins(%x, %x : tensor<4xf16>, tensor<4xf16>) outs(%x : tensor<4xf16>) -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// A branch may hand on an argument.
// CHECK-LABEL: func.func @branch(
// CHECK: %[[R:.*]] = scf.if
// CHECK: memref.alloc() : memref<4xf32>
// CHECK: %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %[[R]], %[[A]]
// CHECK: return %[[A]]
func.func @branch(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// What has no tensors stays as it is.
// CHECK-LABEL: func.func private @no_match(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func private @no_match(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// -----

func.func @needs_linalg(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{needs linalg on tensors, found 'dl.relu'; run convert-dl-to-linalg first}}
  %y = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Rows of a length that run time knows, cut out of longer ones, are copied: their distance is not that of a plain buffer.
// CHECK-LABEL: func.func private @rows_apart(
// CHECK: %[[CUT:.*]] = memref.subview
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: memref.copy %[[CUT]], %[[COPY]]
// CHECK: return %[[COPY]]
func.func private @rows_apart(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %x, %c0 : tensor<?x?xf32>
  %w = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%h, %w) : tensor<?x?xf32>
  %y = linalg.exp ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = tensor.extract_slice %y[0, 0] [%h, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

// Two loops, one in the other, that fill the same empty tensor have a buffer each.
// CHECK-LABEL: func.func @nested_loops(
// CHECK: %[[OUTER:.*]] = memref.alloc() : memref<3xf32>
// CHECK: %[[INNER:.*]] = memref.alloc() : memref<3xf32>
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[OUTER]])
// CHECK: scf.for {{.*}} iter_args(%[[B:.*]] = %[[INNER]])
// CHECK: memref.store %{{.*}}, %[[B]]
// CHECK: memref.store %{{.*}}, %[[A]]
func.func @nested_loops(%n: index, %x: f32, %y: f32) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<3xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e) -> (tensor<3xf32>) {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%b = %e) -> (tensor<3xf32>) {
      %t = tensor.insert %y into %b[%j] : tensor<3xf32>
      scf.yield %t : tensor<3xf32>
    }
    %v = tensor.insert %x into %a[%i] : tensor<3xf32>
    scf.yield %v : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
