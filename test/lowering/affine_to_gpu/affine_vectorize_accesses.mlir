// RUN: dlc-opt %s --affine-vectorize-accesses --canonicalize --cse --split-input-file | filecheck %s
// It refuses nothing: what cannot be vectors stays.

// Four numbers of f32 are 16 bytes. What all of them read is read once.
// CHECK-LABEL: func.func @whole
// CHECK: affine.for %[[T:.*]] = 0 to 256 {
// CHECK-NEXT: %[[A:.*]] = affine.vector_load %arg0[%[[T]] * 4] : memref<1024xf32>, vector<4xf32>
// CHECK: %[[A3:.*]] = vector.extract %[[A]][3]
// CHECK: %[[C:.*]] = affine.load %arg2[%[[T]]]
// CHECK-NOT: affine.load
// CHECK: %[[S3:.*]] = arith.addf %[[A3]], %[[C]]
// CHECK: %[[S:.*]] = vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %[[S3]] : vector<4xf32>
// CHECK-NEXT: affine.vector_store %[[S]], %arg1[%[[T]] * 4] : memref<1024xf32>, vector<4xf32>
func.func @whole(%A: memref<1024xf32> {llvm.noalias}, %B: memref<1024xf32> {llvm.noalias}, %C: memref<256xf32> {llvm.noalias}) {
  affine.for %t = 0 to 256 {
    affine.for %v = 0 to 4 {
      %a = affine.load %A[4 * %t + %v] : memref<1024xf32>
      %c = affine.load %C[%t] : memref<256xf32>
      %s = arith.addf %a, %c : f32
      affine.store %s, %B[4 * %t + %v] : memref<1024xf32>
    }
  } {dlc.name = "kernel0.thread.x"}
  return
}

// -----

// A loop that may end before stays behind a condition.
// CHECK: #[[WHOLE:.*]] = affine_set<(d0)[s0] : (d0 * -4 + s0 - 4 >= 0)>
// CHECK-LABEL: func.func @tail
// CHECK: affine.if #[[WHOLE]](%[[T:.*]])[%arg2] {
// CHECK: affine.vector_load %arg0[%[[T]] * 4]
// CHECK: affine.vector_store %{{.*}}, %arg1[%[[T]] * 4]
// CHECK: } else {
// CHECK: affine.for %[[V:.*]] = 0 to min #{{.*}}(%[[T]])[%arg2] {
// CHECK: affine.load %arg0[%[[T]] * 4 + %[[V]]]
func.func @tail(%A: memref<1024xf32> {llvm.noalias}, %B: memref<1024xf32> {llvm.noalias}, %n: index) {
  affine.for %t = 0 to 256 {
    affine.for %v = 0 to min affine_map<(t)[n] -> (4, n - 4 * t)>(%t)[%n] {
      %a = affine.load %A[4 * %t + %v] : memref<1024xf32>
      affine.store %a, %B[4 * %t + %v] : memref<1024xf32>
    }
  } {dlc.name = "kernel0.thread.x"}
  return
}

// -----

// A sum of eight halves: one vector. As many numbers of f32 take two. Rows of 12 bytes start at multiples of 4.
// CHECK-LABEL: func.func @sizes
// CHECK: %[[H:.*]] = affine.vector_load %arg0[%[[T:.*]] * 8] : memref<1024xf16>, vector<8xf16>
// CHECK: %[[H0:.*]] = vector.extract %[[H]][0]
// CHECK: affine.vector_load %arg1[%[[T]] * 8] : memref<1024xf32>, vector<4xf32>
// CHECK: affine.vector_load %arg1[%[[T]] * 8 + 4] : memref<1024xf32>, vector<4xf32>
// CHECK: affine.load %arg2[%[[T]] * 3]
// CHECK: %[[P0:.*]] = arith.addf %{{.*}}, %[[H0]] : f16
// CHECK: affine.load %arg2[%[[T]] * 3 + 1]
// CHECK: arith.addf %[[P0]], %{{.*}} : f16
// CHECK-NOT: affine.for
func.func @sizes(%A: memref<1024xf16> {llvm.noalias}, %B: memref<1024xf32> {llvm.noalias}, %C: memref<1024xf32> {llvm.noalias}, %S: memref<128xf16> {llvm.noalias}) {
  affine.for %t = 0 to 128 {
    %first = affine.load %S[%t] : memref<128xf16>
    %sum = affine.for %v = 0 to 8 iter_args(%s = %first) -> f16 {
      %a = affine.load %A[8 * %t + %v] : memref<1024xf16>
      %b = affine.load %B[8 * %t + %v] : memref<1024xf32>
      %c = affine.load %C[3 * %t + %v] : memref<1024xf32>
      %d = arith.subf %b, %c : f32
      affine.store %d, %B[8 * %t + %v] : memref<1024xf32>
      %n = arith.addf %s, %a : f16
      affine.yield %n : f16
    }
    affine.store %sum, %S[%t] : memref<128xf16>
  } {dlc.name = "kernel0.thread.x"}
  return
}

// -----

// no-match: places that are not aligned, bits, an iteration that reads what the one before writes, memory of a block, and a loop of
// the host.
// CHECK-LABEL: func.func @others
// CHECK-NOT: vector
func.func @others(%A: memref<1024xf32> {llvm.noalias}, %B: memref<1024xf32> {llvm.noalias}, %M: memref<1024xi1> {llvm.noalias}) {
  affine.for %t = 0 to 128 {
    affine.for %v = 0 to 4 {
      %a = affine.load %A[4 * %t + %v + 1] : memref<1024xf32>
      affine.store %a, %B[3 * %t + %v] : memref<1024xf32>
    }
    affine.for %v = 0 to 4 {
      %true = arith.constant true
      affine.store %true, %M[4 * %t + %v] : memref<1024xi1>
    }
    affine.for %v = 0 to 4 {
      %a = affine.load %A[4 * %t + %v] : memref<1024xf32>
      affine.store %a, %A[4 * %t + %v + 1] : memref<1024xf32>
    }
    %own = memref.alloc() : memref<4xf32>
    affine.for %v = 0 to 4 {
      %a = affine.load %A[4 * %v] : memref<1024xf32>
      affine.store %a, %own[%v] : memref<4xf32>
    }
    affine.for %v = 0 to 4 {
      %a = affine.load %own[%v] : memref<4xf32>
      affine.store %a, %B[4 * %v] : memref<1024xf32>
    }
  } {dlc.name = "kernel0.thread.x"}
  affine.for %v = 0 to 4 {
    %a = affine.load %A[%v] : memref<1024xf32>
    affine.store %a, %B[%v] : memref<1024xf32>
  }
  return
}

// -----

// A name that is no text maps a loop to nothing.
// CHECK-LABEL: func.func @no_text
// CHECK: affine.load
func.func @no_text(%x: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %v = affine.load %x[%i] : memref<64xf32>
    affine.store %v, %x[%i] : memref<64xf32>
  } {dlc.name = 3 : i64}
  return
}
