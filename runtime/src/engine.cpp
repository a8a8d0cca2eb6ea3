// Loading of engines: the file, the variant for this processor, its code and its weights.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engine.h"
#include "checksum.h"
#include "errors.h"
#include "gpu/gpu_model.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

constexpr size_t kMemoryAlignment = 16;

bool isVerbose() {
  const char *setting = std::getenv("DLC_VERBOSE");
  return setting && *setting && std::strcmp(setting, "0") != 0;
}

void logChoice(const dlc_engine &engine) {
  if (!isVerbose())
    return;
  const VariantEntry &variant = engine.variant();
  std::string more;
  if (variant.isForGpu())
    more = ", its kernels as " + engine.kernels().form + " for " + engine.kernels().chip;
  else if (!engine.choice.passedOver.empty())
    more = "; not that for " + engine.choice.passedOver;
  std::fprintf(stderr, "dlc: %s: the code for %s of %zu variants%s\n", engine.name.c_str(), variant.target.c_str(),
               engine.manifest.variants.size(), more.c_str());
}

void checkPart(const EngineBytes &bytes, const FilePart &part, const char *what) {
  if (crc32c(bytes.begin + part.offset, part.size) != part.checksum)
    throw EngineError(DLC_BAD_ENGINE, std::string("its ") + what + " damaged: the checksum is wrong");
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
    choice = chooseVariant(manifest.variants);
    checkPart(bytes, variant().code, "code is");
    if (variant().isForGpu())
      checkPart(bytes, kernels().part, "kernels are");
    code = loadCode(variant(), bytes);
  } catch (EngineError &error) {
    error.message = name + " cannot be loaded: " + error.message;
    throw;
  }
  openWeights(options);
  describe();
  if (options.verify_at_load) {
    verify();
    openGpu();
  }
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

DlcGpu *dlc_engine::openGpu() {
  if (!variant().isForGpu())
    return nullptr;
  std::lock_guard<std::mutex> lock(opening);
  if (gpu)
    return gpu.get();
  std::string refusals;
  while (!openKernels(refusals)) {
    choice.kernels = choice.otherKernels[0];
    choice.otherKernels.erase(choice.otherKernels.begin());
    checkPart(bytes, kernels().part, "kernels are");
    if (isVerbose())
      std::fprintf(stderr, "dlc: %s: its kernels as %s for %s, since the driver refuses others: %s\n", name.c_str(), kernels().form.c_str(),
                   kernels().chip.c_str(), refusals.c_str());
  }
  uint64_t address = reinterpret_cast<uint64_t>(gpu.get());
  std::memcpy(code.begin() + variant().modelWord, &address, sizeof address);
  return gpu.get();
}

bool dlc_engine::openKernels(std::string &refusals) {
  const FilePart &part = kernels().part;
  std::string image(reinterpret_cast<const char *>(bytes.begin + part.offset), part.size); // the driver reads PTX up to a zero
  bool isRefused = false;
  gpu.reset(openModel(image.c_str(), isRefused));
  if (gpu)
    return true;
  refusals += (refusals.empty() ? "as " : "; as ") + kernels().form + ", " + dlc_last_error();
  if (isRefused && !choice.otherKernels.empty())
    return false;
  throw EngineError(static_cast<dlc_status>(lastErrorRecord().kind), "the kernels of " + name + " cannot be loaded: " + refusals);
}

void dlc_engine::bindWeights() {
  DlcGpu *opened = openGpu();
  std::lock_guard<std::mutex> lock(opening);
  if (!opened || isBound)
    return;
  for (const TensorEntry &entry : variant().params) {
    uint64_t size = static_cast<uint64_t>(entry.elementBytes);
    for (int64_t count : entry.sizes)
      size *= static_cast<uint64_t>(count);
    if (size && dlc_gpu_bind(opened, weights + entry.offset, size))
      throw EngineError(static_cast<dlc_status>(lastErrorRecord().kind), "the weights of " + name + ": " + dlc_last_error());
  }
  isBound = true;
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
