// RUN: dlc-opt %s --affine-fuse-nests=explain --split-input-file | filecheck %s
// Nests that could share the loop of channels alone keep their order: an outermost loop along contiguous memory would take a part of
// each line at a time, and what follows could not go row by row. It refuses nothing.

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
