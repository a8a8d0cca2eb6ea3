// RUN: dlc-opt %s --affine-fuse-nests=explain --split-input-file | filecheck %s
// Nests that could share the loop of channels alone keep their order: an outermost loop along contiguous memory would take a part of
// each line at a time, and what follows could not go row by row. But columns that are reduced first are read again while in the caches.
// It refuses nothing.

// The padding of an image and the image itself have other rows and columns; their channels are the same.
// CHECK-LABEL: func.func private @padded_image
// CHECK: affine.for %[[R:.*]] = 0 to 226 {
// CHECK-NEXT: affine.for %[[C:.*]] = 0 to 226 {
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 64 {
// CHECK-NEXT: affine.store %{{.*}}, %{{.*}}[0, %[[R]], %[[C]], %[[K]]]
// CHECK: affine.for %[[R:.*]] = 0 to 224 {
// CHECK-NEXT: affine.for %[[C:.*]] = 0 to 224 {
// CHECK-NEXT: affine.for %[[K:.*]] = 0 to 64 {
// CHECK-NEXT: %[[V:.*]] = affine.load %{{.*}}[0, %[[R]], %[[C]], %[[K]]]
// CHECK-NEXT: affine.store %[[V]], %{{.*}}[0, %[[R]], %[[C]], %[[K]]]
// CHECK: dlc.fusion_refusal = "the loop runs along contiguous memory"
func.func private @padded_image(%x: memref<1x224x224x64xf32> {llvm.noalias}, %y: memref<1x226x226x64xf32> {llvm.noalias}) attributes {dl.kernel} {
  %zero = arith.constant 0.0 : f32
  %inner = memref.subview %y[0, 1, 1, 0] [1, 224, 224, 64] [1, 1, 1, 1] : memref<1x226x226x64xf32> to memref<1x224x224x64xf32, strided<[3268864, 14464, 64, 1], offset: 14528>>
  affine.for %r = 0 to 226 {
    affine.for %c = 0 to 226 {
      affine.for %k = 0 to 64 {
        affine.store %zero, %y[0, %r, %c, %k] : memref<1x226x226x64xf32>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  affine.for %r = 0 to 224 {
    affine.for %c = 0 to 224 {
      affine.for %k = 0 to 64 {
        %0 = affine.load %x[0, %r, %c, %k] : memref<1x224x224x64xf32>
        affine.store %0, %inner[0, %r, %c, %k] : memref<1x224x224x64xf32, strided<[3268864, 14464, 64, 1], offset: 14528>>
      } {dlc.parallel}
    } {dlc.parallel}
  } {dlc.parallel}
  return
}

// -----

// Each pixel's largest channel stays in a register.
// CHECK-LABEL: func.func private @columns
// CHECK: affine.for %[[P:.*]] = 0 to 4096 {
// CHECK-NEXT: %[[M:.*]] = affine.for %[[C:.*]] = 0 to 21 iter_args
// CHECK: affine.for %[[K:.*]] = 0 to 21 {
// CHECK-NEXT: %[[V:.*]] = affine.load %{{.*}}[%[[K]], %[[P]]]
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[V]], %[[M]]
// CHECK-NEXT: affine.store %[[D]], %{{.*}}[%[[K]], %[[P]]]
func.func private @columns(%x: memref<21x4096xf32> {llvm.noalias}, %y: memref<21x4096xf32> {llvm.noalias}) attributes {dl.kernel} {
  %least = arith.constant 0xFF800000 : f32
  %most = memref.alloc() : memref<4096xf32>
  affine.for %p = 0 to 4096 {
    %0 = affine.for %c = 0 to 21 iter_args(%acc = %least) -> (f32) {
      %1 = affine.load %x[%c, %p] : memref<21x4096xf32>
      %2 = arith.maximumf %1, %acc : f32
      affine.yield %2 : f32
    }
    affine.store %0, %most[%p] : memref<4096xf32>
  } {dlc.parallel}
  affine.for %c = 0 to 21 {
    affine.for %p = 0 to 4096 {
      %0 = affine.load %x[%c, %p] : memref<21x4096xf32>
      %1 = affine.load %most[%p] : memref<4096xf32>
      %2 = arith.subf %0, %1 : f32
      affine.store %2, %y[%c, %p] : memref<21x4096xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  memref.dealloc %most : memref<4096xf32>
  return
}
