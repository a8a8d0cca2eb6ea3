// Inside the runtime: which of an engine's variants this machine runs.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "engine_manifest.h"

#include <cstddef>
#include <string>
#include <vector>

struct VariantChoice {
  // Numbers of the variant and, where it is for a GPU, of the form of its kernels.
  size_t variant = 0;
  size_t kernels = 0;
  // Of other forms that the GPU may run, should its driver refuse that one; in their order.
  std::vector<size_t> otherKernels;
  // Variants for GPUs that cannot run here, with what they lack; empty where there are none.
  std::string passedOver;
};

// The variant that suits this machine best: for a GPU before one for the processor alone, of the latest GPU, with most features, the
// first of equals. The driver of the GPU is looked for only where there is code for one. EngineError where none can run.
VariantChoice chooseVariant(const std::vector<VariantEntry> &variants);
