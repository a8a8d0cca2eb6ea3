// A[i, j] * S[i] for 1024 rows of 150, column by column.
func.func @scale(%A: memref<1024x150xf32> {llvm.noalias}, %S: memref<1024xf32> {llvm.noalias}, %C: memref<1024x150xf32> {llvm.noalias}) {
  affine.for %j = 0 to 150 {
    affine.for %i = 0 to 1024 {
      %a = affine.load %A[%i, %j] : memref<1024x150xf32>
      %s = affine.load %S[%i] : memref<1024xf32>
      %p = arith.mulf %a, %s : f32
      affine.store %p, %C[%i, %j] : memref<1024x150xf32>
    }
  }
  return
}
