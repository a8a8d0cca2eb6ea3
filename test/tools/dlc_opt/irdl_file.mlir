// RUN: dlc-opt %s --irdl-file=%S/Inputs/twice.irdl.mlir | filecheck %s
// RUN: not dlc-opt %s 2>&1 | filecheck %s --check-prefix=WITHOUT
// RUN: not dlc-opt %s --irdl-file=%s.missing 2>&1 | filecheck %s --check-prefix=MISSING
// Dialects that IRDL files define are known while the input is read.

// WITHOUT: error: {{.*}}unregistered dialect
// MISSING: irdl_file.mlir.missing: error: no such file

// CHECK-LABEL: func.func @f
// CHECK: "mine.twice"(%{{.*}}) : (i32) -> i32
func.func @f(%x: i32) -> i32 {
  %0 = "mine.twice"(%x) : (i32) -> i32
  return %0 : i32
}
