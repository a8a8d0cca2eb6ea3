// RUN: dlc-opt %s --linalg-hoist-checks --split-input-file --verify-diagnostics | filecheck %s
// Checks move before all work, with what they compute from sizes; those that read elements come right behind the load.

// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0
// CHECK: %[[N:.*]] = memref.dim %[[X]], %[[ZERO]]
// CHECK: %[[M:.*]] = memref.dim %[[Y]], %[[ZERO]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[M]]
// CHECK: cf.assert %[[SAME]], "first"
// CHECK: %[[ORDERED:.*]] = arith.cmpi sle, %[[N]], %[[M]]
// CHECK: cf.assert %[[ORDERED]], "second"
// CHECK: memref.alloc(%[[N]])
// CHECK: linalg.exp
// CHECK: return
func.func @sizes(%x: memref<?xf32>, %y: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  %m = memref.dim %y, %c0 : memref<?xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "first"
  linalg.add ins(%a, %y : memref<?xf32>, memref<?xf32>) outs(%a : memref<?xf32>)
  %ordered = arith.cmpi sle, %n, %m : index
  cf.assert %ordered, "second"
  return %a : memref<?xf32>
}

// -----

// CHECK-LABEL: func.func @elements(
// CHECK: memref.alloc
// CHECK: %[[N:.*]] = memref.load
// CHECK-NEXT: %[[M:.*]] = memref.load
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[M]]
// CHECK-NEXT: cf.assert %[[SAME]], "second"
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[N]], %[[M]]
// CHECK-NEXT: %[[BOTH:.*]] = arith.cmpi eq, %[[SUM]]
// CHECK-NEXT: cf.assert %[[BOTH]], "both"
// CHECK-NEXT: linalg.exp
func.func @elements(%x: memref<4xf32>, %sizes: memref<2xindex>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<4xf32>
  %n = memref.load %sizes[%c0] : memref<2xindex>
  %m = memref.load %sizes[%c1] : memref<2xindex>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %same = arith.cmpi eq, %m, %c4 : index
  cf.assert %same, "second"
  %sum = arith.addi %n, %m : index
  %both = arith.cmpi eq, %sum, %c4 : index
  cf.assert %both, "both"
  return %a : memref<4xf32>
}

// -----

// The first check needs `%sum` after `%m`, the second `%n` alone, as `%sum`'s operand does.
// CHECK-LABEL: func.func @shared(
// CHECK: %[[N:.*]] = memref.load
// CHECK-NEXT: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]]
// CHECK-NEXT: %[[EVEN:.*]] = arith.cmpi eq, %[[TWICE]]
// CHECK-NEXT: cf.assert %[[EVEN]], "second"
// CHECK-NEXT: %[[M:.*]] = memref.load
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[TWICE]], %[[M]]
// CHECK: cf.assert %{{.*}}, "first"
// CHECK: scf.for
// CHECK-NEXT: %[[K:.*]] = memref.load
// CHECK-NEXT: arith.cmpi eq, %[[K]]
// CHECK-NEXT: cf.assert %{{.*}}, "inside"
// CHECK-NEXT: linalg.exp
func.func @shared(%x: memref<4xf32>, %a: memref<4xf32>, %sizes: memref<2xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.load %sizes[%c0] : memref<2xindex>
  %m = memref.load %sizes[%c1] : memref<2xindex>
  %twice = arith.addi %n, %n : index
  %sum = arith.addi %twice, %m : index
  %first = arith.cmpi eq, %sum, %c4 : index
  cf.assert %first, "first"
  %second = arith.cmpi eq, %twice, %c4 : index
  cf.assert %second, "second"
  scf.for %i = %c0 to %c4 step %c1 {
    %k = memref.load %sizes[%c1] : memref<2xindex>
    linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
    %inside = arith.cmpi eq, %k, %c4 : index
    cf.assert %inside, "inside"
  }
  return
}

// -----

// no-match: a function without checks.
// CHECK-LABEL: func.func @no_checks(
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: linalg.exp
func.func @no_checks(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a : memref<4xf32>
}

// -----

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{needs buffers, found 'linalg.exp' on tensors; run linalg-bufferize-tensors first}}
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
