// Loading of engines: the file, the variant for this processor, its code and its weights.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engine.h"
#include "checksum.h"
#include "errors.h"
#include "processor_features.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

constexpr size_t kMemoryAlignment = 16;

std::string joined(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : ", ") + text;
  return all;
}

// What a variant needs that is not here, in words; empty for one that can run.
std::string lackOf(const VariantEntry &variant) {
  if (variant.architecture != kArchitecture)
    return "is of " + variant.architecture;
  std::vector<std::string> missing;
  for (const std::string &feature : variant.features)
    if (presenceOf(feature) != Presence::present)
      missing.push_back(feature);
  return missing.empty() ? "" : "needs " + joined(missing);
}

// The variant with most features of those that can run here; the first of equals.
size_t chooseVariant(const std::vector<VariantEntry> &variants) {
  const VariantEntry *best = nullptr;
  std::vector<std::string> lacks;
  for (const VariantEntry &variant : variants) {
    std::string lack = lackOf(variant);
    if (!lack.empty())
      lacks.push_back(variant.target + ", which " + lack);
    else if (!best || variant.features.size() > best->features.size())
      best = &variant;
  }
  if (best)
    return static_cast<size_t>(best - variants.data());
  throw EngineError(DLC_WRONG_MACHINE, "it has code for " + (lacks.empty() ? "no machine" : joined(lacks)) +
                                           "; this processor is of " + std::string(kArchitecture) +
                                           (lacks.empty() ? "" : " and lacks that") + ": compile with a --target for it");
}

void logChoice(const dlc_engine &engine) {
  const char *setting = std::getenv("DLC_VERBOSE");
  if (!setting || !*setting || std::strcmp(setting, "0") == 0)
    return;
  std::fprintf(stderr, "dlc: %s: the code for %s of %zu variants\n", engine.name.c_str(), engine.variant().target.c_str(),
               engine.manifest.variants.size());
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

} // namespace

TensorType::TensorType(const TensorEntry &tensor) : entry(tensor), label("result '" + tensor.name + "'") {
  for (const std::string &name : tensor.names)
    names.push_back(name.empty() ? nullptr : name.c_str());
  type = {entry.name.c_str(),
          entry.element.c_str(),
          entry.elementBytes,
          static_cast<int64_t>(entry.sizes.size()),
          entry.sizes.data(),
          names.data(),
          entry.isDonated};
}

dlc_engine::dlc_engine(const std::string &path, const dlc_options &options) : name("'" + path + "'"), file(path) {
  bytes = {file.begin(), file.size(), file.descriptor()};
  load(options);
}

dlc_engine::dlc_engine(const void *memory, size_t size, const dlc_options &options) : name("the engine in memory") {
  if (size && reinterpret_cast<uintptr_t>(memory) % kMemoryAlignment != 0)
    throw EngineError(DLC_INVALID_ARGUMENT, "an engine in memory must begin at a multiple of 16 bytes");
  bytes = {static_cast<const uint8_t *>(memory), size, -1};
  load(options);
}

void dlc_engine::load(const dlc_options &options) {
  if (options.threads < 0 || options.threads > INT32_MAX || options.memory_limit < 0)
    throw EngineError(DLC_INVALID_ARGUMENT, "options of an engine: threads (31 bits) and memory_limit are 0 or more");
  threads = options.threads;
  limit = options.memory_limit;
  try {
    manifest = readManifest(bytes.begin, bytes.size);
    chosen = chooseVariant(manifest.variants);
    const FilePart &part = variant().code;
    if (crc32c(bytes.begin + part.offset, part.size) != part.checksum)
      throw EngineError(DLC_BAD_ENGINE, "its code is damaged: the checksum is wrong");
    code = loadCode(variant(), bytes);
  } catch (EngineError &error) {
    error.message = name + " cannot be loaded: " + error.message;
    throw;
  }
  openWeights(options);
  describe();
  if (options.verify_at_load)
    verify();
  logChoice(*this);
}

void dlc_engine::openWeights(const dlc_options &options) {
  const FilePart &part = manifest.weights;
  if (manifest.weightsFile.empty()) {
    weights = bytes.begin + part.offset;
    return;
  }
  if (!options.weights && bytes.descriptor < 0)
    throw EngineError(DLC_BAD_ENGINE, name + " has its weights in a file, '" + manifest.weightsFile + "'; give its path as weights");
  std::string path = options.weights ? options.weights : folderOf(name.substr(1, name.size() - 2)) + manifest.weightsFile;
  weightsFile = MappedFile(path);
  try {
    checkWeightsHeader(weightsFile.begin(), weightsFile.size(), manifest);
  } catch (EngineError &error) {
    error.message = "'" + path + "' cannot give the weights of " + name + ": " + error.message;
    throw;
  }
  weights = weightsFile.begin() + part.offset;
}

void dlc_engine::describe() {
  for (const TensorEntry &entry : manifest.inputs)
    inputs.emplace_back(entry);
  for (const TensorEntry &entry : manifest.outputs)
    outputs.emplace_back(entry);
  params.resize(variant().params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const TensorEntry &entry = variant().params[i];
    int64_t address = reinterpret_cast<int64_t>(weights + entry.offset);
    std::vector<int64_t> &words = params[i].descriptor;
    words = {address, address, 0};
    words.insert(words.end(), entry.sizes.begin(), entry.sizes.end());
    std::vector<int64_t> strides(entry.sizes.size(), 1);
    for (size_t dim = strides.size(); dim-- > 1;)
      strides[dim - 1] = strides[dim] * entry.sizes[dim];
    words.insert(words.end(), strides.begin(), strides.end());
    params[i].pointer = words.data();
  }
}

void dlc_engine::verify() {
  if (isVerified.load(std::memory_order_acquire))
    return;
  std::lock_guard<std::mutex> lock(verifying);
  if (isVerified.load(std::memory_order_relaxed))
    return;
  if (crc32c(weights, manifest.weights.size) != manifest.weights.checksum)
    throw EngineError(DLC_BAD_ENGINE, "the weights of " + name + " are damaged: the checksum is wrong");
  isVerified.store(true, std::memory_order_release);
}

void dlc_engine::enter() {
  std::lock_guard<std::mutex> lock(mutex);
  ++running;
}

void dlc_engine::leave() {
  std::lock_guard<std::mutex> lock(mutex);
  if (--running == 0)
    isIdle.notify_all();
}

void dlc_engine::awaitCalls() {
  std::unique_lock<std::mutex> lock(mutex);
  isIdle.wait(lock, [this] { return running == 0; });
}

dlc_status noteError(dlc_status status, const std::string &message) {
  ErrorRecord &error = lastErrorRecord();
  error.kind = static_cast<DlcErrorKind>(status);
  error.bytes = error.used = error.limit = 0;
  std::snprintf(error.message, sizeof error.message, "%s", message.c_str());
  return status;
}
