// RUN: dlc-opt %s --dl-set-target=target=cpu:sapphirerapids --affine-vectorize-loops | filecheck %s
// A loop over all elements of a tensor of many open dims: usual sizes of all are more than 64 bits count.

// CHECK-LABEL: func.func private @elements(
// CHECK: affine.vector_store
func.func private @elements(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %a = arith.muli %n, %n : index
  %b = arith.muli %a, %a : index
  %c = arith.muli %b, %b : index
  %d = arith.muli %c, %c : index
  affine.for %i = 0 to %d {
    %v = affine.load %x[%i] : memref<?xf32>
    %s = arith.addf %v, %v : f32
    affine.store %s, %y[%i] : memref<?xf32>
  } {dlc.parallel}
  return
}
