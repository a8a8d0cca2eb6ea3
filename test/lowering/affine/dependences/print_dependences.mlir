// RUN: dlc-opt %s --affine-print-dependences 2>&1 >/dev/null | filecheck %s
// RUN: dlc-opt %s --affine-print-dependences=json=%t.json | filecheck %s --check-prefix=SAME
// RUN: filecheck %s --check-prefix=JSON --input-file=%t.json
// What runs, what depends on what, what may be reordered; the IR stays as it is.

// CHECK: function @smooth
// CHECK: S0[t, i] at print_dependences.mlir:24:7: 0 < t <= 9 and 0 < i <= 98
// CHECK-NEXT: reads %A[-1 + i, 0]
// CHECK-NEXT: reads %A[1 + i, 0]
// CHECK-NEXT: writes %A[i, 0]
// CHECK: flow S0 writes %A (line {{.*}}) -> S0 reads %A (line {{.*}}): { S0[t, i] -> S0[t' = t, i' = 1 + i] : 0 < t <= 9 and 0 < i <= 97 }
// CHECK-NEXT: distance (0, 1), carried by i
// CHECK: flow S0 writes %A {{.*}}: { S0[t, i] -> S0[t' = 1 + t, i' = -1 + i] : 0 < t <= 8 and 2 <= i <= 98 }
// CHECK-NEXT: distance (1, -1), carried by t
// SAME-LABEL: func.func @smooth
// SAME-COUNT-2: affine.load
// SAME: affine.store
func.func @smooth(%A: memref<100x64xf32>) {
  affine.for %t = 1 to 10 {
    affine.for %i = 1 to 99 {
      %x = affine.load %A[%i - 1, 0] : memref<100x64xf32>
      %y = affine.load %A[%i + 1, 0] : memref<100x64xf32>
      %z = arith.addf %x, %y : f32
      affine.store %z, %A[%i, 0] : memref<100x64xf32>
    }
  }
  return
}

// A sum that may be taken in any order, of columns that need not be there; JSON has the same.
// CHECK: function @sum
// CHECK: reductions
// CHECK-NEXT: S0 combines %s[] by add along j: any order is allowed
// CHECK-NEXT: out of bounds
// CHECK-NEXT: S0 reads %A (line {{.*}}), { S0[j] -> %A[j] : 64 <= j < n }
// JSON: "function": "sum"
// JSON: "n": "%n"
// JSON: "kind": "add"
func.func @sum(%n: index, %A: memref<64xf32> {llvm.noalias}, %s: memref<f32> {llvm.noalias}) {
  affine.for %j = 0 to %n {
    %x = affine.load %A[%j] : memref<64xf32>
    %y = affine.load %s[] : memref<f32>
    %z = arith.addf %x, %y fastmath<reassoc> : f32
    affine.store %z, %s[] : memref<f32>
  }
  return
}

// no-match: a function without loops has nothing to report.
// CHECK-NOT: function @straight
func.func @straight(%s: memref<f32>, %x: f32) {
  affine.store %x, %s[] : memref<f32>
  return
}

// Iterations of a parallel loop that write one element have no order.
// CHECK: function @race
// CHECK: dependences
// CHECK: races
// CHECK-NEXT: S0 writes %s (line {{.*}}), S0 writes %s (line {{.*}}), { S0[i0] -> S0[i0'] : {{.*}} }
func.func @race(%s: memref<f32>, %x: f32) {
  affine.parallel (%i) = (0) to (4) {
    affine.store %x, %s[] : memref<f32>
  }
  return
}
