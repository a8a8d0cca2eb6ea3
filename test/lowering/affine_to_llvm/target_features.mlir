// RUN: dlc-opt %s --dl-set-target=target=haswell --math-expand-functions --convert-affine-to-llvm | filecheck %s
// RUN: dlc-opt %s --dl-set-target=target=generic --convert-affine-to-llvm | filecheck %s --check-prefix=GENERIC
// RUN: dlc-opt %s --dl-set-target=target=skylake-avx512 --convert-affine-to-llvm | filecheck %s --check-prefix=WIDE
// RUN: dlc-opt %s --convert-affine-to-llvm | filecheck %s --check-prefix=HOST
// Functions with a body name the processor of the module's target. Without a multiply-add instruction, f32 goes through f64.

// CHECK: llvm.func @_mlir_ciface_fma
// CHECK-SAME: target_cpu = "haswell", target_features = #llvm.target_features<["+avx", "+avx2", "+f16c", "+fma",
// CHECK: llvm.intr.fma(
// CHECK: llvm.intr.fma(

// GENERIC: llvm.func @_mlir_ciface_fma
// GENERIC-SAME: target_cpu = "x86-64", target_features = #llvm.target_features<["+sse", "+sse2"]>
// GENERIC: %[[A:.*]] = llvm.fpext %{{.*}} : f32 to f64
// GENERIC: %[[B:.*]] = llvm.fpext
// GENERIC: %[[C:.*]] = llvm.fpext
// GENERIC: %[[PRODUCT:.*]] = llvm.fmul %[[A]], %[[B]] : f64
// GENERIC: %[[SUM:.*]] = llvm.fadd %[[PRODUCT]], %[[C]] : f64
// GENERIC: llvm.fptrunc %[[SUM]] : f64 to f32
// GENERIC: llvm.fptrunc %{{.*}} : vector<4xf64> to vector<4xf32>

// no-match: an fma of f64 stays.
// GENERIC: llvm.intr.fma(%{{.*}}) : (f64, f64, f64) -> f64

// WIDE: target_features = #llvm.target_features<[{{.*}}"+avx512vl", {{.*}}"-prefer-256-bit"]>

// no-match: this machine.
// HOST-NOT: target_cpu
func.func @fma(%x: f32, %v: vector<4xf32>, %d: f64) -> (f32, vector<4xf32>, f64) {
  %0 = math.fma %x, %x, %x : f32
  %1 = math.fma %v, %v, %v : vector<4xf32>
  %2 = math.fma %d, %d, %d : f64
  return %0, %1, %2 : f32, vector<4xf32>, f64
}
