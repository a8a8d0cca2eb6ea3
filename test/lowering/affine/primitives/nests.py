"""Functions that several tests schedule."""

MATMUL = """
func.func @matmul(
    %A: memref<20x16xf32> {llvm.noalias}, %B: memref<16x24xf32> {llvm.noalias}, %C: memref<20x24xf32> {llvm.noalias}) {
  affine.for %i = 0 to 20 {
    affine.for %j = 0 to 24 {
      affine.for %k = 0 to 16 {
        %a = affine.load %A[%i, %k] : memref<20x16xf32>
        %b = affine.load %B[%k, %j] : memref<16x24xf32>
        %c = affine.load %C[%i, %j] : memref<20x24xf32>
        %x = arith.mulf %a, %b : f32
        %y = arith.addf %c, %x : f32
        affine.store %y, %C[%i, %j] : memref<20x24xf32>
      }
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}
"""
