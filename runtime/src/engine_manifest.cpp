// The header and the manifest of an engine file: docs/engine-format.md. Nothing is taken for granted of either.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engine_manifest.h"
#include "checksum.h"
#include "dlc_runtime.h"
#include "json.h"

#include <algorithm>
#include <cstring>
#include <iterator>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "engine files are little-endian, and read as they lie");

namespace {

constexpr char kEngineMagic[9] = "\x93"
                                 "DLCE\r\n\x1a";
constexpr char kWeightsMagic[9] = "\x93"
                                  "DLCW\r\n\x1a";
constexpr uint32_t kFormat = 1;
constexpr uint32_t kSwappedFormat = 0x01000000;
constexpr uint64_t kHeaderBytes = 64;
constexpr uint64_t kChecksumAt = 60;
constexpr int64_t kMostElements = int64_t{1} << 48;
constexpr uint64_t kWord = 8;
// What is read of a manifest takes up to a hundred times its bytes in memory.
constexpr uint64_t kMostManifestBytes = 16 << 20;

struct Header {
  char magic[8];
  uint32_t format;
  uint32_t reserved;
  uint64_t fileBytes;
  uint64_t manifestOffset;
  uint64_t manifestBytes;
  uint32_t manifestChecksum;
};

struct WeightsHeader {
  char magic[8];
  uint32_t format;
  uint32_t reserved;
  uint64_t fileBytes;
  unsigned char hash[32];
};

struct ElementType {
  std::string_view name;
  int64_t bytes;
};

constexpr ElementType kElements[] = {
    {"f64", 8},        {"f32", 4},          {"f16", 2},    {"bf16", 2},       {"i64", 8},       {"i32", 4},  {"i16", 2}, {"i8", 1},
    {"ui8", 1},        {"ui16", 2},         {"ui32", 4},   {"ui64", 8},       {"i1", 1},        {"i4", 1},   {"ui4", 1}, {"i2", 1},
    {"ui2", 1},        {"f8E4M3FN", 1},     {"f8E5M2", 1}, {"f8E4M3FNUZ", 1}, {"f8E5M2FNUZ", 1}, {"f8E8M0FNU", 1}, {"f4E2M1FN", 1},
    {"f6E2M3FN", 1},   {"f6E3M2FN", 1},
};

[[noreturn]] void refuse(const std::string &reason) { throw EngineError(DLC_BAD_ENGINE, reason); }

template <typename Record>
Record readHeader(const uint8_t *bytes, uint64_t size, const char *magic, const std::string &what) {
  if (size < kHeaderBytes)
    refuse("it is no " + what + ": it has " + std::to_string(size) + " bytes, and the header alone has 64");
  Record header;
  std::memcpy(&header, bytes, sizeof header);
  if (std::memcmp(header.magic, magic, sizeof header.magic) != 0)
    refuse("it is no " + what + ": it does not begin with the bytes of one; dlc compile MODEL -o FILE.dlce makes engines");
  if (header.format == kSwappedFormat)
    refuse("it is in big-endian byte order; dlc reads and writes little-endian files");
  if (header.format != kFormat)
    refuse("it has version " + std::to_string(header.format) + " of the format, and this runtime (" +
           std::to_string(DLC_RUNTIME_MAJOR) + "." + std::to_string(DLC_RUNTIME_MINOR) + ") reads version " + std::to_string(kFormat) +
           "; " + (header.format > kFormat ? "install a newer dlc-runtime" : "compile the model again"));
  uint32_t checksum;
  std::memcpy(&checksum, bytes + kChecksumAt, sizeof checksum);
  if (crc32c(bytes, kChecksumAt) != checksum)
    refuse("its header is damaged: the checksum is wrong");
  if (header.fileBytes != size)
    refuse("it has " + std::to_string(size) + " bytes, and its header says " + std::to_string(header.fileBytes) +
           (size < header.fileBytes ? "; it was cut off" : "; something was added"));
  return header;
}

uint64_t unsignedNumber(const Json &from, const char *name) {
  int64_t value = from.at(name).asNumber(name);
  if (value < 0)
    refuse(std::string("the manifest has a negative '") + name + "'");
  return static_cast<uint64_t>(value);
}

FilePart readPart(const Json &entry, uint64_t fileBytes, const char *what) {
  FilePart part{unsignedNumber(entry, "offset"), unsignedNumber(entry, "size"), 0};
  uint64_t checksum = unsignedNumber(entry, "crc32c");
  if (part.offset > fileBytes || part.size > fileBytes - part.offset)
    refuse(std::string("the manifest says that the ") + what + " end at byte " + std::to_string(part.offset) + " + " +
           std::to_string(part.size) + ", and the file has " + std::to_string(fileBytes));
  if (part.offset % kEnginePage || checksum > UINT32_MAX)
    refuse(std::string("the manifest has an impossible place or checksum of the ") + what);
  part.checksum = static_cast<uint32_t>(checksum);
  return part;
}

int64_t bytesOf(const std::string &element) {
  auto found = std::find_if(std::begin(kElements), std::end(kElements), [&](const ElementType &each) { return each.name == element; });
  if (found == std::end(kElements))
    refuse("the manifest has the element type '" + element + "', which this runtime does not know");
  return found->bytes;
}

void readShape(const Json &shape, TensorEntry &tensor) {
  for (const Json &dim : shape.asList("shape")) {
    bool isSize = dim.isNumber();
    tensor.sizes.push_back(isSize ? dim.asNumber("shape") : DLC_DYNAMIC);
    tensor.names.push_back(isSize || dim.isNull() ? std::string() : dim.asText("shape"));
    if (isSize && (tensor.sizes.back() < 0 || tensor.sizes.back() > kMostElements))
      refuse("the manifest has a dim of " + std::to_string(tensor.sizes.back()) + " elements");
  }
  if (tensor.sizes.size() > DLC_MAX_RANK)
    refuse("the manifest has a tensor of " + std::to_string(tensor.sizes.size()) + " dims, and there may be " +
           std::to_string(DLC_MAX_RANK));
}

TensorEntry readTensor(const Json &entry) {
  TensorEntry tensor;
  tensor.name = entry.at("name").asText("name");
  tensor.element = entry.at("dtype").asText("dtype");
  tensor.elementBytes = bytesOf(tensor.element);
  readShape(entry.at("shape"), tensor);
  return tensor;
}

std::vector<TensorEntry> readTensors(const Json &list, const char *what) {
  std::vector<TensorEntry> found;
  for (const Json &entry : list.asList(what)) {
    found.push_back(readTensor(entry));
    found.back().isDonated = entry.at("donated").asBool("donated");
  }
  return found;
}

// Bytes of a parameter; an error where it has none that fit into the weights.
void checkParam(const TensorEntry &param, uint64_t weightsBytes) {
  int64_t bytes = param.elementBytes;
  for (int64_t size : param.sizes)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      refuse("the manifest has a parameter '" + param.name + "' without a size");
  if (param.offset % static_cast<uint64_t>(param.elementBytes) || param.offset > weightsBytes ||
      static_cast<uint64_t>(bytes) > weightsBytes - param.offset)
    refuse("the manifest says that parameter '" + param.name + "' lies where there are no weights");
}

void readSegments(const Json &code, VariantEntry &variant) {
  std::pair<const char *, uint64_t *> segments[] = {
      {"text", &variant.text}, {"rodata", &variant.rodata}, {"relro", &variant.relro}, {"data", &variant.data}, {"zero", &variant.zero}};
  uint64_t sum = 0;
  for (auto &[name, size] : segments) {
    *size = unsignedNumber(code, name);
    if (*size % kEnginePage || *size > UINT32_MAX)
      refuse(std::string("the manifest has a segment '") + name + "' of " + std::to_string(*size) + " bytes");
    sum += *size;
  }
  if (sum - variant.zero != variant.code.size)
    refuse("the manifest has segments of " + std::to_string(sum - variant.zero) + " bytes in code of " +
           std::to_string(variant.code.size));
  if (variant.entry >= variant.text)
    refuse("the manifest has an entry outside of the code");
}

// The offset of a word that loading writes.
uint64_t writtenWord(const Json &number, const VariantEntry &variant) {
  int64_t offset = number.asNumber("relocations");
  uint64_t first = variant.text + variant.rodata, end = first + variant.relro + variant.data;
  if (offset < 0 || static_cast<uint64_t>(offset) < first || static_cast<uint64_t>(offset) + kWord > end || offset % 8)
    refuse("the manifest has a relocation at " + std::to_string(offset) + ", where nothing may be written");
  return static_cast<uint64_t>(offset);
}

void readRelocations(const Json &code, VariantEntry &variant) {
  for (const Json &pair : code.at("relative").asList("relative")) {
    const std::vector<Json> &numbers = pair.asList("relative");
    if (numbers.size() != 2)
      refuse("the manifest has a relocation that is no pair");
    int64_t value = numbers[1].asNumber("relative");
    if (value < 0 || static_cast<uint64_t>(value) > variant.memory())
      refuse("the manifest has a relocation to " + std::to_string(value) + ", outside of the code");
    variant.relative.emplace_back(writtenWord(numbers[0], variant), static_cast<uint64_t>(value));
  }
  for (const Json &entry : code.at("imports").asList("imports")) {
    ImportEntry import{entry.at("name").asText("name"), {}};
    for (const Json &word : entry.at("words").asList("words"))
      import.words.push_back(writtenWord(word, variant));
    variant.imports.push_back(std::move(import));
  }
}

// The number of a GPU as PTX names it, and whether the code is for that one alone: `sm_90a`.
void readChip(KernelsEntry &kernels) {
  constexpr std::string_view kPrefix = "sm_";
  std::string_view digits = kernels.chip;
  bool isChip = digits.substr(0, kPrefix.size()) == kPrefix;
  digits.remove_prefix(isChip ? kPrefix.size() : digits.size());
  kernels.isExact = !digits.empty() && digits.back() == 'a';
  digits.remove_suffix(kernels.isExact);
  if (digits.size() < 2 || digits.size() > 3 || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    refuse("the manifest has kernels for '" + kernels.chip + "', which is no GPU");
  for (char digit : digits)
    kernels.capability = 10 * kernels.capability + (digit - '0');
}

void readKernels(const Json &gpu, uint64_t fileBytes, VariantEntry &variant) {
  for (const Json &entry : gpu.at("kernels").asList("kernels")) {
    KernelsEntry kernels;
    kernels.form = entry.at("form").asText("form");
    kernels.chip = entry.at("chip").asText("chip");
    kernels.cuda = entry.at("cuda").asNumber("cuda");
    readChip(kernels);
    kernels.part = readPart(entry, fileBytes, "kernels");
    if (kernels.part.size == 0)
      refuse("the manifest has kernels of no bytes");
    variant.kernelForms.push_back(std::move(kernels));
  }
  if (variant.kernelForms.empty())
    refuse("the manifest has code for a GPU without kernels");
  variant.modelWord = unsignedNumber(gpu, "model");
  uint64_t first = variant.text + variant.rodata + variant.relro;
  if (variant.modelWord < first || variant.modelWord > variant.memory() - kWord || variant.modelWord % kWord)
    refuse("the manifest has the word of the model at " + std::to_string(variant.modelWord) + ", where there is no variable");
}

VariantEntry readVariant(const Json &entry, uint64_t fileBytes, uint64_t weightsBytes) {
  VariantEntry variant;
  variant.target = entry.at("target").asText("target");
  variant.architecture = entry.at("arch").asText("arch");
  for (const Json &feature : entry.at("features").asList("features"))
    variant.features.push_back(feature.asText("features"));
  for (const Json &kernel : entry.at("profiled").asList("profiled"))
    variant.kernels.push_back(kernel.asText("profiled"));
  const Json &code = entry.at("code");
  variant.code = readPart(code, fileBytes, "code");
  variant.entry = unsignedNumber(code, "entry");
  readSegments(code, variant);
  readRelocations(code, variant);
  for (const Json &param : entry.at("params").asList("params")) {
    variant.params.push_back(readTensor(param));
    variant.params.back().offset = unsignedNumber(param, "offset");
    checkParam(variant.params.back(), weightsBytes);
  }
  if (const Json *gpu = entry.find("gpu"))
    readKernels(*gpu, fileBytes, variant);
  return variant;
}

// Where weights lie apart, their part is in a file that is not open yet.
void readWeights(const Json &entry, uint64_t fileBytes, EngineManifest &manifest) {
  manifest.weightsHash = entry.at("sha256").asText("sha256");
  const Json &file = entry.at("file");
  if (file.isNull()) {
    manifest.weights = readPart(entry, fileBytes, "weights");
    return;
  }
  manifest.weightsFile = file.asText("file");
  bool isPath = manifest.weightsFile.find('/') != std::string::npos || manifest.weightsFile.find('\\') != std::string::npos;
  if (isPath || manifest.weightsFile.empty() || manifest.weightsFile == "." || manifest.weightsFile == "..")
    refuse("the manifest names the file of weights '" + manifest.weightsFile + "', which is no plain name");
  manifest.weights = readPart(entry, INT64_MAX, "weights");
}

void requireAbi(const Json &root) {
  int64_t abi = root.at("runtime").asNumber("runtime");
  if (abi != kRuntimeAbi)
    refuse("it was made by dlc " + root.at("dlc").asText("dlc") + " for version " + std::to_string(abi) +
           " of the runtime, and this one has version " + std::to_string(kRuntimeAbi) + "; " +
           (abi > kRuntimeAbi ? "install a newer dlc-runtime" : "compile the model again"));
}

} // namespace

EngineManifest readManifest(const uint8_t *bytes, uint64_t size) {
  Header header = readHeader<Header>(bytes, size, kEngineMagic, "engine");
  if (header.manifestOffset > size || header.manifestBytes > size - header.manifestOffset)
    refuse("its header says that the manifest ends behind the file");
  if (header.manifestBytes > kMostManifestBytes)
    refuse("its header says that the manifest has " + std::to_string(header.manifestBytes) + " bytes, and there may be " +
           std::to_string(kMostManifestBytes));
  const uint8_t *begin = bytes + header.manifestOffset;
  if (crc32c(begin, header.manifestBytes) != header.manifestChecksum)
    refuse("its manifest is damaged: the checksum is wrong");
  EngineManifest manifest;
  manifest.text = {reinterpret_cast<const char *>(begin), header.manifestBytes};
  Json root = Json::parse(manifest.text);
  requireAbi(root);
  const Json &signature = root.at("signature");
  manifest.inputs = readTensors(signature.at("inputs"), "inputs");
  manifest.outputs = readTensors(signature.at("outputs"), "outputs");
  readWeights(root.at("weights"), size, manifest);
  for (const Json &entry : root.at("variants").asList("variants"))
    manifest.variants.push_back(readVariant(entry, size, manifest.weights.size));
  return manifest;
}

void checkWeightsHeader(const uint8_t *bytes, uint64_t size, const EngineManifest &manifest) {
  WeightsHeader header = readHeader<WeightsHeader>(bytes, size, kWeightsMagic, "file of weights");
  static constexpr char digits[] = "0123456789abcdef";
  std::string hash;
  for (unsigned char byte : header.hash) {
    hash.push_back(digits[byte >> 4]);
    hash.push_back(digits[byte & 15]);
  }
  if (hash != manifest.weightsHash)
    refuse("it holds the weights " + hash.substr(0, 12) + "..., and the engine needs " + manifest.weightsHash.substr(0, 12) +
           "...; give the file that was written with the engine");
  if (manifest.weights.offset > size || manifest.weights.size > size - manifest.weights.offset)
    refuse("it ends before the weights that the engine needs");
}
