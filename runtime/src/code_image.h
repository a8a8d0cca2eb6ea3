// Inside the runtime: the code of an engine in this process.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "engine_manifest.h"
#include "mapped_file.h"

// Where the bytes of an engine are: in memory, and in an open file (-1 for none) at the same offsets.
struct EngineBytes {
  const uint8_t *begin = nullptr;
  uint64_t size = 0;
  int descriptor = -1;
};

// Maps the code of a variant and completes it. Text and read-only data are the file's own pages, shared by processes; no page is
// both written and executed at any time. EngineError where the code needs a function that there is not, or memory that there is
// not.
Pages loadCode(const VariantEntry &variant, const EngineBytes &engine);
