// The file of weights beside native code: mapped, so that processes share it, and compared with what the code was generated with.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native_weights.h"
#include "checksum.h"
#include "dlc/runtime.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

// As docs/engine-format.md specifies it.
struct Header {
  unsigned char magic[8];
  uint32_t format;
  uint32_t zero;
  uint64_t bytes;
  unsigned char sha256[32];
  uint32_t zeros;
  uint32_t checksum;
};
static_assert(sizeof(Header) == 64, "the header has no gaps");

constexpr unsigned char kMagic[8] = {0x93, 'D', 'L', 'C', 'W', '\r', '\n', 0x1A};

// What is wrong with the file, or null.
const char *faultOf(const uint8_t *bytes, uint64_t size, const dlc_native_weights &weights) {
  Header header;
  if (size < sizeof header)
    return "it is too short";
  std::memcpy(&header, bytes, sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return "it is no file of weights";
  if (header.checksum != crc32c(&header, sizeof header - sizeof header.checksum) || header.format != 1)
    return "its header is damaged, or of another version";
  if (std::memcmp(header.sha256, weights.sha256, sizeof header.sha256) != 0)
    return "it holds other weights; give the file that was written with the code";
  if (weights.offset > size || weights.bytes > size - weights.offset)
    return "it ends before the weights do";
  return crc32c(bytes + weights.offset, weights.bytes) == weights.checksum ? nullptr : "it is damaged: the checksum is wrong";
}

int32_t unreadable(const dlc_native_model &model, const char *path) {
  return fail(DLC_BAD_ENGINE, "model '%s': its weights '%s' cannot be read: %s", model.name, path, std::strerror(errno));
}

} // namespace

MappedWeights::~MappedWeights() {
  if (pages)
    munmap(pages, mapped);
}

int32_t MappedWeights::open(const dlc_native_model &model, const char *path) {
  begin = static_cast<const uint8_t *>(model.weights.memory);
  if (!model.weights.file)
    return DLC_OK;
  path = path ? path : model.weights.file;
  int file = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  if (file < 0)
    return unreadable(model, path);
  void *made = MAP_FAILED;
  if (fstat(file, &facts) == 0 && facts.st_size > 0) {
    mapped = static_cast<size_t>(facts.st_size);
    made = mmap(nullptr, mapped, PROT_READ, MAP_PRIVATE, file, 0);
  }
  int reason = mapped ? errno : EINVAL;
  close(file);
  errno = reason;
  if (made == MAP_FAILED)
    return unreadable(model, path);
  pages = made;
  const char *fault = faultOf(static_cast<const uint8_t *>(pages), mapped, model.weights);
  if (fault)
    return fail(DLC_BAD_ENGINE, "model '%s': '%s' cannot give its weights: %s", model.name, path, fault);
  begin = static_cast<const uint8_t *>(pages) + model.weights.offset;
  return DLC_OK;
}
