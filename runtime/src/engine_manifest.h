// Inside the runtime: the parts of an engine file, all of whose numbers are within their bounds.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "engine_error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

constexpr uint64_t kEnginePage = 4096;

// A byte range of a file.
struct FilePart {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t checksum = 0;
};

struct TensorEntry {
  std::string name;
  std::string element;
  int64_t elementBytes = 0;
  std::vector<int64_t> sizes;
  // A name for each dynamic size, empty for none.
  std::vector<std::string> names;
  bool isDonated = false;
  // Of a parameter: where its elements begin in the weights.
  uint64_t offset = 0;
};

struct ImportEntry {
  std::string name;
  std::vector<uint64_t> words;
};

// Kernels for a GPU: a text of PTX, or a cubin.
struct KernelsEntry {
  std::string form;
  // As PTX names it (`sm_90`, `sm_90a`), its number (90), and whether no other GPU runs them.
  std::string chip;
  int64_t capability = 0;
  bool isExact = false;
  // The version of CUDA that the driver must know, as it gives its own (12040 is 12.4).
  int64_t cuda = 0;
  FilePart part;
};

struct VariantEntry {
  std::string target;
  std::string architecture;
  std::vector<std::string> features;
  // Names of rows of the profile, from row 1 on.
  std::vector<std::string> kernels;
  FilePart code;
  // Bytes of the segments in memory, each whole pages; all but `zero` are in the file, in this order.
  uint64_t text = 0, rodata = 0, relro = 0, data = 0, zero = 0;
  uint64_t entry = 0;
  // Words that take the address of the image and this number.
  std::vector<std::pair<uint64_t, uint64_t>> relative;
  std::vector<ImportEntry> imports;
  std::vector<TensorEntry> params;
  // Of code beside a GPU: its kernels in several forms, and the word that takes the address of the model on the GPU.
  std::vector<KernelsEntry> kernelForms;
  uint64_t modelWord = 0;

  bool isForGpu() const { return !kernelForms.empty(); }
  uint64_t memory() const { return code.size + zero; }
};

struct EngineManifest {
  std::string_view text;
  std::vector<TensorEntry> inputs;
  std::vector<TensorEntry> outputs;
  std::vector<VariantEntry> variants;
  // The file of the weights, empty where they lie in the engine.
  std::string weightsFile;
  FilePart weights;
  std::string weightsHash;
};

// Reads the header and the manifest of the `size` bytes of an engine. EngineError says what is wrong with them.
EngineManifest readManifest(const uint8_t *bytes, uint64_t size);

// Checks the header of a file of weights, which belongs to an engine with this manifest.
void checkWeightsHeader(const uint8_t *bytes, uint64_t size, const EngineManifest &manifest);
