// RUN: dlc-opt --version | filecheck %s --check-prefix=VERSION
// RUN: dlc-opt --help | filecheck %s --check-prefix=HELP
// RUN: dlc-opt --list-passes --load-pass-plugin=%S/Inputs/test_passes.py | filecheck %s --check-prefix=LIST
// RUN: dlc-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// What dlc-opt tells about itself, passes grouped by folder.

// VERSION: dlc {{[0-9.]+}}
// VERSION-NEXT: MLIR bindings:
// VERSION: execution engine: yes

// HELP: usage: dlc-opt
// HELP: --pass-pipeline=<text>
// HELP: passes of lowering/dl:
// HELP: passes of lowering/dl/weights:
// HELP: --dl-bind-params {{.*}}Replace
// HELP: passes of lowering/dl_to_linalg:
// HELP-NEXT: --convert-dl-to-linalg
// HELP: named pipelines
// HELP: --dl-to-linalg
// HELP: Every pass of upstream MLIR is available by its name

// LIST: passes of plugins:
// LIST: --test-refuse
// LIST: upstream's passes:
// LIST: canonicalize

// DIALECTS: Available Dialects:
// DIALECTS: affine
// DIALECTS: dl
// DIALECTS: linalg
