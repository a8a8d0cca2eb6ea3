// RUN: dlc-opt %s --dl-set-target=target=cpu:znver3 --affine-polyhedral-schedule=print-proof=true 2>&1 | filecheck %s
// The pass refuses nothing here; its errors are in polyhedral_schedule.mlir.

// Sixteen registers: three vectors by four rows of sums, three vectors that the rows share, and one factor.
// CHECK: function @product
// CHECK: blocks for caches: {{.*}} 1 by 12, 0 by 4, 2;

// no-match: a scaled factor takes another register, so that these tiles would not fit.
// CHECK: function @scaled
// CHECK-NOT: 0 by 4, 2;
// CHECK: blocks for caches: {{.*}} 1 by 16, 0 by 2, 2;

// No registers for masks: tiles of 4 filters leave none of 64, those of 6 would.
// CHECK: function @windows
// CHECK: blocks for caches: {{.*}} 0 by 4, 2 by 24, 3, 4, 5;
func.func @product(%A: memref<512x512xf64> {llvm.noalias}, %B: memref<512x768xf64> {llvm.noalias}, %C: memref<512x768xf64> {llvm.noalias}) {
  affine.for %i = 0 to 512 {
    affine.for %j = 0 to 768 {
      affine.for %k = 0 to 512 {
        %a = affine.load %A[%i, %k] : memref<512x512xf64>
        %b = affine.load %B[%k, %j] : memref<512x768xf64>
        %c = affine.load %C[%i, %j] : memref<512x768xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<512x768xf64>
      }
    }
  }
  return
}

func.func @scaled(%by: f64, %A: memref<512x512xf64> {llvm.noalias}, %B: memref<512x768xf64> {llvm.noalias}, %C: memref<512x768xf64> {llvm.noalias}) {
  affine.for %i = 0 to 512 {
    affine.for %j = 0 to 768 {
      affine.for %k = 0 to 512 {
        %a = affine.load %A[%i, %k] : memref<512x512xf64>
        %b = affine.load %B[%k, %j] : memref<512x768xf64>
        %c = affine.load %C[%i, %j] : memref<512x768xf64>
        %f = arith.mulf %a, %by : f64
        %p = arith.mulf %f, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<512x768xf64>
      }
    }
  }
  return
}

func.func @windows(%image: memref<64x58x58xf32> {llvm.noalias}, %kernel: memref<64x64x3x3xf32> {llvm.noalias}, %out: memref<64x56x56xf32> {llvm.noalias}) {
  affine.for %f = 0 to 64 {
    affine.for %h = 0 to 56 {
      affine.for %w = 0 to 56 {
        affine.for %c = 0 to 64 {
          affine.for %r = 0 to 3 {
            affine.for %s = 0 to 3 {
              %a = affine.load %image[%c, %h + %r, %w + %s] : memref<64x58x58xf32>
              %b = affine.load %kernel[%f, %c, %r, %s] : memref<64x64x3x3xf32>
              %sum = affine.load %out[%f, %h, %w] : memref<64x56x56xf32>
              %p = arith.mulf %a, %b : f32
              %new = arith.addf %sum, %p : f32
              affine.store %new, %out[%f, %h, %w] : memref<64x56x56xf32>
            }
          }
        }
      }
    }
  }
  return
}
