// RUN: dlc-opt %s --affine-unroll-choices | filecheck %s
// RUN: dlc-opt %s --affine-unroll-choices --affine-unroll-choices | filecheck %s
// RUN: dlc-opt %s --affine-unroll-choices=most=2 | filecheck %s --check-prefix=FEW
// RUN: not dlc-opt %s --affine-unroll-choices=most=0 2>&1 | filecheck %s --check-prefix=MOST
// Loops whose index chooses between values become straight code.

// MOST: error: {{.*}}most is 0; give 1 or more

// FEW-LABEL: func.func @three
// FEW: arith.select

// CHECK-LABEL: func.func @three
// CHECK: affine.for %[[I:.*]] = 0 to 8 {
// CHECK: %[[A:.*]] = affine.load %{{.*}}[%[[I]]]
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: affine.store %[[A]], %{{.*}}[0, %[[I]]]
// CHECK-NEXT: affine.store %[[B]], %{{.*}}[1, %[[I]]]
// CHECK-NEXT: affine.store %[[C]], %{{.*}}[2, %[[I]]]
// CHECK-NEXT: } {dlc.parallel}
func.func @three(%x: memref<8xf32>, %y: memref<3x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  affine.for %p = 0 to 3 {
    affine.for %i = 0 to 8 {
      %a = affine.load %x[%i] : memref<8xf32>
      %b = arith.addf %a, %a : f32
      %c = arith.mulf %a, %b : f32
      %is1 = arith.cmpi eq, %p, %c1 : index
      %tail = arith.select %is1, %b, %c : f32
      %is0 = arith.cmpi eq, %p, %c0 : index
      %v = arith.select %is0, %a, %tail : f32
      affine.store %v, %y[%p, %i] : memref<3x8xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// Two loops choose; one of a single iteration goes with them. What the index itself gives is a constant.
// CHECK-LABEL: func.func @nested
// CHECK: affine.for %[[I:.*]] = 0 to 4 {
// CHECK-DAG: affine.store %[[A:.*]], %{{.*}}[0, %[[I]] * 2]
// CHECK-DAG: affine.store %{{.*}}, %{{.*}}[0, %[[I]] * 2 + 1]
// CHECK-NOT: affine.for
// CHECK: return
func.func @nested(%x: memref<4xindex>, %y: memref<1x8xindex>) {
  %c0 = arith.constant 0 : index
  affine.for %n = 0 to 1 {
    affine.for %i = 0 to 4 {
      affine.for %j = 0 to 2 {
        %a = affine.load %x[%i] : memref<4xindex>
        %is0 = arith.cmpi sle, %j, %c0 : index
        %v = arith.select %is0, %a, %j : index
        affine.store %v, %y[%n, %i * 2 + %j] : memref<1x8xindex>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// no-match: a loop of many iterations, one that is not parallel, and a comparison with what is not constant.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-3: arith.select
func.func @left(%x: memref<100xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  affine.for %i = 0 to 100 {
    %a = affine.load %x[%i] : memref<100xf32>
    %is0 = arith.cmpi eq, %i, %c0 : index
    %v = arith.select %is0, %z, %a : f32
    affine.store %v, %x[%i] : memref<100xf32>
  } {dlc.parallel}
  affine.for %i = 0 to 3 {
    %a = affine.load %x[%i] : memref<100xf32>
    %is0 = arith.cmpi eq, %i, %c0 : index
    %v = arith.select %is0, %z, %a : f32
    affine.store %v, %x[%i + 1] : memref<100xf32>
  }
  affine.for %i = 0 to 3 {
    %a = affine.load %x[%i] : memref<100xf32>
    %same = arith.cmpi eq, %i, %k : index
    %v = arith.select %same, %z, %a : f32
    affine.store %v, %x[%i] : memref<100xf32>
  } {dlc.parallel}
  return
}
