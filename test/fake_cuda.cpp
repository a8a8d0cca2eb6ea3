// A driver of NVIDIA's on memory of the host, for tests: the functions of libcuda.so.1 that the runtime calls, and some to look inside.
//
// Work of a stream is done when the stream is awaited, not before, so that a missing wait shows. Memory of the "GPU" begins as NaN, and
// copies outside of what was allocated fail. Kernels are done by a callback. Errors of kernels stay, as they do on a GPU.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <sys/mman.h>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

using Work = std::function<int()>;
using Kernel = int (*)(const char *name, const unsigned *sizes, unsigned shared, void *const *parameters);

// The parts of an ELF file of 64 bits that say where its sections are (elf.h).
struct ElfHeader {
  unsigned char ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, segments, sections;
  uint32_t flags;
  uint16_t size, segmentSize, segmentCount, sectionSize, sectionCount, names;
};
struct ElfSection {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entrySize;
};

struct Module {
  std::string chip; // the compute capability that the code is for, as 90
  std::map<std::string, std::vector<size_t>> parameters;
};
struct Function {
  std::string name;
  std::vector<size_t> parameters; // bytes of each
};
// What a tensor map holds here: what it was made of. Its dims are from the innermost one on.
struct alignas(64) TensorMap {
  uint64_t address;
  uint32_t element, swizzle, rank, box[5];
  uint64_t sizes[5], strides[4];
};
static_assert(sizeof(TensorMap) == 128);
struct Stream {
  std::vector<Work> waiting;
  bool isCaptured = false;
  std::vector<Work> captured;
};
struct Graph {
  std::vector<Work> works;
};
struct Event {
  double time = 0;
};

namespace {

std::recursive_mutex mutex;
int devices = 1, major_ = 9, minor_ = 0, version = 12040, multiprocessors = 4, sticky = 0, contexts = 0;
size_t memory = size_t(1) << 30, taken = 0;
double now = 0;
Kernel onLaunch = nullptr;
std::map<std::string, int> calls;
struct Failure {
  int after, status, times; // calls until then, and how many fail
};
std::map<std::string, Failure> failures; // by function
constexpr size_t kPage = 4096;
std::map<uint64_t, size_t> deviceBlocks, hostBlocks;
std::set<void *> objects;

int enter(const char *name) {
  ++calls[name];
  auto found = failures.find(name);
  if (found != failures.end() && found->second.after-- <= 0 && found->second.times-- > 0)
    return found->second.status;
  return sticky;
}

bool isIn(const std::map<uint64_t, size_t> &blocks, uint64_t address, size_t size) {
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin())
    return false;
  --after;
  return address + size <= after->first + after->second;
}

int copy(uint64_t target, uint64_t source, size_t size, bool targetIsDevice, bool sourceIsDevice) {
  if ((targetIsDevice && !isIn(deviceBlocks, target, size)) || (sourceIsDevice && !isIn(deviceBlocks, source, size)))
    return 700;
  std::memcpy(reinterpret_cast<void *>(target), reinterpret_cast<void *>(source), size);
  return 0;
}

// Memory of the "GPU" next to the block before, as NVIDIA's driver may give it, and at an address that no block had.
void *nextBlock(size_t size) {
  constexpr size_t kAll = size_t(1) << 40;
  static char *next = static_cast<char *>(mmap(nullptr, kAll, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  static char *const end = next + kAll;
  size_t rounded = (size + 255) / 256 * 256;
  if (next == MAP_FAILED || rounded > static_cast<size_t>(end - next))
    return nullptr;
  next += rounded;
  return next - rounded;
}

int submit(Stream *stream, Work work) {
  (stream->isCaptured ? stream->captured : stream->waiting).push_back(std::move(work));
  return 0;
}

template <typename T> T *make() {
  T *made = new T;
  objects.insert(made);
  return made;
}

template <typename T> int destroy(T *object) {
  if (!objects.erase(object))
    return 400;
  delete object;
  return 0;
}

} // namespace

#define ENTER(name)                                                                                                              \
  std::lock_guard<std::recursive_mutex> lock(mutex);                                                                             \
  if (int status = enter(#name))                                                                                                 \
    return status;

// --- for tests -----------------------------------------------------------------------------------------------------
EXPORT void fake_configure(int count, int major, int minor, int driver, uint64_t bytes, int processors) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  devices = count, major_ = major, minor_ = minor, version = driver, memory = bytes, multiprocessors = processors, sticky = 0;
  failures.clear();
  calls.clear();
}
EXPORT void fake_fail(const char *name, int after, int status, int times) { failures[name] = {after, status, times}; }
EXPORT void fake_on_launch(Kernel kernel) { onLaunch = kernel; }
EXPORT int fake_calls(const char *name) { return calls[name]; }
EXPORT int fake_holds(uint64_t address, uint64_t size) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  return isIn(deviceBlocks, address, size);
}
EXPORT int64_t fake_live() { return static_cast<int64_t>(deviceBlocks.size() + hostBlocks.size() + objects.size()) + contexts; }

// --- the driver ----------------------------------------------------------------------------------------------------
EXPORT int cuInit(unsigned) {
  ENTER(cuInit)
  return devices ? 0 : 100;
}
EXPORT int cuDriverGetVersion(int *found) {
  *found = version;
  return 0;
}
EXPORT int cuDeviceGetCount(int *count) {
  *count = devices;
  return 0;
}
EXPORT int cuDeviceGet(int *device, int number) {
  *device = number;
  return number < devices ? 0 : 101;
}
EXPORT int cuDeviceGetName(char *name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  const std::map<int, int> known = {{13, 1500000}, {16, multiprocessors}, {36, 2000000}, {37, 1024}, {38, 4 << 20}, {75, major_}, {76, minor_}};
  auto found = known.find(attribute);
  *value = found == known.end() ? 0 : found->second;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int) {
  ENTER(cuDevicePrimaryCtxRetain)
  ++contexts;
  *context = &contexts;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  --contexts;
  return 0;
}
static thread_local int depth = 0;
EXPORT int cuCtxPushCurrent_v2(void *) {
  ENTER(cuCtxPushCurrent_v2)
  ++depth;
  return 0;
}
EXPORT int cuCtxPopCurrent_v2(void **) { return --depth < 0 ? 201 : 0; }
EXPORT int cuMemGetInfo_v2(size_t *free, size_t *all) {
  *free = memory - taken, *all = memory;
  return 0;
}
// The kernels of a cubin, and the bytes of their parameters: records 0x17 (of 12 bytes: index, number, offset, size from bit 18 on) of
// the sections `.nv.info.KERNEL`. The compute capability is in bits 8 to 15 of the header's flags, up to version
// 7 of the format (CUDA 12) in bits 0 to 7. 209: for another GPU.
static int readCubin(const char *image, Module &module) {
  const auto *header = reinterpret_cast<const ElfHeader *>(image);
  int chip = (header->ident[8] < 8 ? header->flags : header->flags >> 8) & 255;
  if (chip / 10 != major_ || chip % 10 > minor_)
    return 209;
  module.chip = std::to_string(chip);
  const auto *sections = reinterpret_cast<const ElfSection *>(image + header->sections);
  const char *names = image + sections[header->names].offset;
  const std::string prefix = ".nv.info.";
  for (int i = 0; i < header->sectionCount; ++i) {
    std::string name = names + sections[i].name;
    if (name.compare(0, prefix.size(), prefix) != 0)
      continue;
    std::map<unsigned, size_t> sizes;
    const char *at = image + sections[i].offset, *end = at + sections[i].size;
    while (at + 4 <= end) {
      unsigned char form = at[0], kind = at[1];
      uint16_t bytes;
      std::memcpy(&bytes, at + 2, 2);
      uint32_t words[3];
      if (form == 4 && kind == 0x17) {
        std::memcpy(words, at + 4, sizeof words);
        sizes[words[1] & 0xffff] = words[2] >> 18;
      }
      at += 4 + (form == 4 ? bytes : 0);
    }
    auto &parameters = module.parameters[name.substr(prefix.size())];
    for (const auto &each : sizes)
      parameters.push_back(each.second);
  }
  return 0;
}
EXPORT int cuModuleLoadDataEx(Module **module, const char *image, unsigned, int *, void **values) {
  ENTER(cuModuleLoadDataEx)
  if (std::memcmp(image, "\x7f" "ELF", 4) == 0) {
    Module found;
    if (int status = readCubin(image, found))
      return status;
    *(*module = make<Module>()) = found;
    return 0;
  }
  if (!std::strstr(image, ".version")) {
    std::strcpy(static_cast<char *>(values[0]), "ptxas fatal: no version");
    return 218;
  }
  *module = make<Module>();
  static const std::regex entry("\\.entry\\s+(\\w+)\\s*\\(([^)]*)\\)");
  static const std::regex target("\\.target\\s+sm_(\\d+)");
  std::string text = image;
  if (std::smatch found; std::regex_search(text, found, target))
    (*module)->chip = found[1];
  for (std::sregex_iterator at(text.begin(), text.end(), entry), end; at != end; ++at) {
    std::string parameters = (*at)[2];
    static const std::regex parameter("\\.param[^,]*?(\\[(\\d+)\\])?\\s*(,|$)");
    auto &sizes = (*module)->parameters[(*at)[1]];
    for (std::sregex_iterator each(parameters.begin(), parameters.end(), parameter); each != end; ++each)
      sizes.push_back((*each)[2].matched ? std::stoul((*each)[2]) : 8);
  }
  return 0;
}
EXPORT int cuModuleUnload(Module *module) { return destroy(module); }
EXPORT int cuModuleGetFunction(Function **function, Module *module, const char *name) {
  ENTER(cuModuleGetFunction)
  auto found = module->parameters.find(name);
  if (found == module->parameters.end())
    return 500;
  static std::map<std::pair<Module *, std::string>, Function> functions;
  *function = &(functions[{module, name}] = {name + ("@" + module->chip), found->second});
  return 0;
}
EXPORT int cuFuncSetAttribute(Function *, int, int) {
  ENTER(cuFuncSetAttribute)
  return 0;
}
EXPORT int cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                          Stream *stream, void **parameters, void **) {
  ENTER(cuLaunchKernel)
  if (uint64_t(bx) * by * bz > 1024 || gy > 65535 || gz > 65535 || !(gx && gy && gz && bx && by && bz))
    return 1;
  std::vector<std::vector<char>> values;
  for (size_t size : function->parameters) {
    const char *given = static_cast<const char *>(parameters[values.size()]);
    values.emplace_back(given, given + size);
  }
  std::string name = function->name;
  return submit(stream, [=]() mutable {
    std::vector<void *> places;
    for (std::vector<char> &value : values)
      places.push_back(value.data());
    const unsigned sizes[] = {gx, gy, gz, bx, by, bz};
    int status = enter("kernel");
    return status ? status : onLaunch ? onLaunch(name.c_str(), sizes, shared, places.data()) : 0;
  });
}
#ifndef BEFORE_CUDA_12
EXPORT int cuTensorMapEncodeTiled(TensorMap *map, int element, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides,
                                  const unsigned *box, const unsigned *steps, int interleave, int swizzle, int promotion, int fill) {
  ENTER(cuTensorMapEncodeTiled)
  uint64_t start = reinterpret_cast<uint64_t>(address), last = 0;
  if (reinterpret_cast<uint64_t>(map) % 64 || start % 16 || rank < 1 || rank > 5 || interleave || promotion || fill)
    return 1;
  *map = TensorMap{start, static_cast<uint32_t>(element), static_cast<uint32_t>(swizzle), rank, {}, {}, {}};
  static const std::map<int, uint64_t> bytes = {{0, 1}, {6, 2}, {7, 4}, {9, 2}};
  auto size = bytes.find(element);
  for (unsigned i = 0; i < rank; ++i) {
    if (steps[i] != 1 || box[i] < 1 || box[i] > 256 || sizes[i] < 1 || (i && (strides[i - 1] % 16 || strides[i - 1] >> 40)))
      return 1;
    map->box[i] = box[i], map->sizes[i] = sizes[i];
    if (i)
      map->strides[i - 1] = strides[i - 1];
    last += (sizes[i] - 1) * (i ? strides[i - 1] : size == bytes.end() ? 0 : size->second);
  }
  bool fits = size != bytes.end() && swizzle > 0 && swizzle < 4 && box[0] * size->second <= 16u << swizzle;
  return fits && isIn(deviceBlocks, start, last + size->second) ? 0 : 1;
}
#endif
EXPORT int cuMemAlloc_v2(uint64_t *address, size_t size) {
  ENTER(cuMemAlloc_v2)
  if (size > memory - taken)
    return 2;
  void *block = nextBlock(size);
  if (!block)
    return 2;
  std::memset(block, 0xff, size);
  *address = reinterpret_cast<uint64_t>(block);
  deviceBlocks[*address] = size;
  taken += size;
  return 0;
}
EXPORT int cuMemFree_v2(uint64_t address) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  auto found = deviceBlocks.find(address);
  if (found == deviceBlocks.end())
    return 1;
  taken -= found->second;
  uint64_t first = (address + kPage - 1) / kPage * kPage, last = (address + found->second) / kPage * kPage;
  if (first < last) // only pages that are all of this block: their other parts are of the next one
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  deviceBlocks.erase(found);
  return 0;
}
EXPORT int cuMemHostAlloc(void **address, size_t size, unsigned) {
  ENTER(cuMemHostAlloc)
  *address = std::malloc(size);
  hostBlocks[reinterpret_cast<uint64_t>(*address)] = size;
  return 0;
}
EXPORT int cuMemFreeHost(void *address) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  hostBlocks.erase(reinterpret_cast<uint64_t>(address));
  std::free(address);
  return 0;
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t size, Stream *stream) {
  ENTER(cuMemcpyHtoDAsync_v2)
  return submit(stream, [=] { return copy(target, reinterpret_cast<uint64_t>(source), size, true, false); });
}
EXPORT int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t size, Stream *stream) {
  ENTER(cuMemcpyDtoHAsync_v2)
  return submit(stream, [=] { return copy(reinterpret_cast<uint64_t>(target), source, size, false, true); });
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t size, Stream *stream) {
  ENTER(cuMemcpyDtoDAsync_v2)
  return submit(stream, [=] { return copy(target, source, size, true, true); });
}
EXPORT int cuStreamCreate(Stream **stream, unsigned) {
  ENTER(cuStreamCreate)
  *stream = make<Stream>();
  return 0;
}
EXPORT int cuStreamDestroy_v2(Stream *stream) { return destroy(stream); }
EXPORT int cuStreamSynchronize(Stream *stream) {
  ENTER(cuStreamSynchronize)
  std::vector<Work> works;
  works.swap(stream->waiting);
  for (Work &work : works) {
    now += 1;
    if (int status = sticky ? sticky : work())
      return sticky = status;
  }
  return sticky;
}
EXPORT int cuStreamBeginCapture_v2(Stream *stream, int) {
  ENTER(cuStreamBeginCapture_v2)
  stream->isCaptured = true;
  return 0;
}
EXPORT int cuStreamEndCapture(Stream *stream, Graph **graph) {
  ENTER(cuStreamEndCapture)
  *graph = make<Graph>();
  (*graph)->works.swap(stream->captured);
  stream->isCaptured = false;
  return 0;
}
EXPORT int cuGraphInstantiateWithFlags(Graph **executable, Graph *graph, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags)
  *executable = make<Graph>();
  (*executable)->works = graph->works;
  return 0;
}
EXPORT int cuGraphLaunch(Graph *graph, Stream *stream) {
  ENTER(cuGraphLaunch)
  for (const Work &work : graph->works)
    submit(stream, work);
  return 0;
}
EXPORT int cuGraphExecDestroy(Graph *graph) { return destroy(graph); }
EXPORT int cuGraphDestroy(Graph *graph) { return destroy(graph); }
EXPORT int cuEventCreate(Event **event, unsigned) {
  ENTER(cuEventCreate)
  *event = make<Event>();
  return 0;
}
EXPORT int cuEventRecord(Event *event, Stream *stream) {
  ENTER(cuEventRecord)
  return submit(stream, [=] {
    event->time = now;
    return 0;
  });
}
EXPORT int cuEventElapsedTime(float *milliseconds, Event *from, Event *to) {
  ENTER(cuEventElapsedTime)
  *milliseconds = static_cast<float>(to->time - from->time);
  return 0;
}
EXPORT int cuEventDestroy_v2(Event *event) { return destroy(event); }
EXPORT int cuGetErrorName(int status, const char **name) {
  *name = status == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : status == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : status == 218 ? "CUDA_ERROR_INVALID_PTX" : "CUDA_ERROR";
  return 0;
}
EXPORT int cuGetErrorString(int status, const char **text) {
  *text = status == 2 ? "out of memory" : status == 700 ? "an illegal memory access was encountered" : "something failed";
  return 0;
}
