// RUN: dlc-opt %s --compile-to=dl | filecheck %s --check-prefix=DL
// RUN: dlc-opt %s --compile-to=linalg | filecheck %s --check-prefix=LINALG
// RUN: dlc-opt %s --compile-to=affine | filecheck %s --check-prefix=AFFINE
// RUN: dlc-opt %s --compile-to=linalg | dlc-opt --compile-from=linalg --compile-to=llvm | filecheck %s --check-prefix=LLVM
// RUN: dlc-opt %s --dl-to-linalg | filecheck %s --check-prefix=LINALG
// RUN: dlc-opt %s --compile-to=affine | dlc-opt --compile-to=llvm | filecheck %s --check-prefix=LLVM
// RUN: dlc-opt %s --compile-to=affine | not dlc-opt --compile-to=linalg 2>&1 | filecheck %s --check-prefix=BACK
// RUN: not dlc-opt %s --compile-to=gpu 2>&1 | filecheck %s --check-prefix=ERROR
// The named pipelines between stages, by name and by stage.

// DL: "dl.relu"
// LINALG: linalg.generic
// AFFINE: affine.{{for|parallel}}
// BACK: error: can't go back from stage 'affine' to stage 'linalg'

// LLVM: llvm.func @_mlir_ciface_main
// ERROR: error: no stage is called 'gpu' (stages: dl, linalg, affine, llvm)
func.func @main(%x: tensor<4xf32> {dl.name = "x"}) -> (tensor<4xf32> {dl.name = "y"}) {
  %0 = "dl.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
