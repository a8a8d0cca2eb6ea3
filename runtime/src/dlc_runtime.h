// The C interface of the native runtime: what compiled models and dlc.runtime call.
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

// In libdlc_native.a nothing is shown: a program with a model in it may load the library, too, which must find its own functions.
#if defined(DLC_HIDDEN)
#define DLC_EXPORT extern "C"
#else
#define DLC_EXPORT extern "C" __attribute__((visibility("default")))
#endif

// --- memory.cpp -------------------------------------------------------------------------------------------------

// Uninitialised memory of `size` bytes, 64-byte aligned and 4 KiB aligned from 64 KiB up. Never null: where there is none, or the
// call may have no more, the innermost dlc_invoke ends with an error. MLIR's finalize-memref-to-llvm{use-generic-functions=true}
// calls these names.
DLC_EXPORT void *_mlir_memref_to_llvm_alloc(uint64_t size);

// The same with an `alignment` (a power of two) that is at least kept.
DLC_EXPORT void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size);

// As the first; `what` says in the error what the memory is for.
DLC_EXPORT void *dlc_allocate(uint64_t size, const char *what);

// As the second, for callers outside of models: null where there is no memory.
DLC_EXPORT void *dlc_try_allocate(uint64_t alignment, uint64_t size);

// For tests: the allocation after the next `count` ones fails, once; none when negative. Returns what was left of the count before,
// which is negative when that allocation has failed.
DLC_EXPORT int64_t dlc_fail_allocation(int64_t count);

// Gives memory of the functions above back; null is allowed.
DLC_EXPORT void _mlir_memref_to_llvm_free(void *pointer);

// Bytes that are allocated now, and the most that were at once since the start or the last reset.
DLC_EXPORT int64_t dlc_memory_live();
DLC_EXPORT int64_t dlc_memory_peak();
DLC_EXPORT void dlc_memory_reset_peak();

// Large blocks that are freed are kept for the next allocations, as long as they and those in use are not more by a quarter than
// were in use at once before, and 1 GiB at most. Bytes that are kept now; and how to give them all back to the system.
DLC_EXPORT int64_t dlc_memory_idle();
DLC_EXPORT void dlc_memory_trim();

// --- memref_copy.cpp --------------------------------------------------------------------------------------------

// MLIR's unranked memref: a rank, and a pointer to {allocated, aligned, offset, sizes[rank], strides[rank]}.
struct UnrankedMemRef {
  int64_t rank;
  void *descriptor;
};

// Copies `source` to `target`, two memrefs of equal shape that do not overlap, with any strides and rank (0 too).
DLC_EXPORT void memrefCopy(int64_t elementSize, UnrankedMemRef *source, UnrankedMemRef *target);

// --- thread_pool.cpp --------------------------------------------------------------------------------------------

// Covers [0, n) by calls body(context, lo, hi) on the calling thread and on pool threads, and returns when all ended.
// Each of at most dlc_num_threads() threads has an even share of the range and takes it in pieces; one that is done takes
// pieces of the others'. Calls from inside a body run inline.
DLC_EXPORT void dlc_parallel_for(void (*body)(void *, int64_t, int64_t), void *context, int64_t n);

// The same for iterations that take from `first` to `last` instructions each (1 or more), in a straight line: shares are of equal
// work, and pieces take `least` instructions or more, but where a whole share takes fewer. A range of fewer runs on the calling
// thread.
DLC_EXPORT void dlc_parallel_for_uneven(void (*body)(void *, int64_t, int64_t), void *context, int64_t n, int64_t first, int64_t last,
                                        int64_t least);

// Sets how many threads calls from this thread use (below 1: DLC_NUM_THREADS, else all processors). Returns the setting
// before, 0 for that.
DLC_EXPORT int dlc_set_num_threads(int count);

// How many threads calls from this thread use.
DLC_EXPORT int dlc_num_threads();

// Binds the pool's threads, the callers' stay where they are: "0,2-5" to these processors in turn, "none" to none; "auto", and
// at the start if DLC_THREAD_AFFINITY does not say otherwise, keeps them off the caller's. Returns 1 if it is none of these.
DLC_EXPORT int32_t dlc_set_thread_affinity(const char *text);

// --- doacross.cpp -----------------------------------------------------------------------------------------------

// Covers the rows [0, rows) of a loop nest by calls body(context, lo, hi) on as many threads as dlc_num_threads() says, and returns
// when all ended. Rows begin in their order. A body that is in one calls the next two before and after each of the columns
// of the row, whose numbers grow: the first waits until the row before has finished that column and all before it.
DLC_EXPORT void dlc_doacross(void (*body)(void *, int64_t, int64_t), void *context, int64_t rows);
DLC_EXPORT void dlc_await_column(int64_t column);
DLC_EXPORT void dlc_finish_column(int64_t column);

// --- call.cpp ---------------------------------------------------------------------------------------------------

// Memory of the caller for one result; a null address for none. `name` is the result's, for messages.
struct DlcMemory {
  void *address;
  uint64_t size;
  const char *name;
};

// A call: the entry with its table of pointers, what dlc_set_num_threads is told for its time, and memory for its results. The
// call may hold `limit` bytes at once (0: no bound), results included; it ends when `cancellations` (null: none) grows.
struct DlcCall {
  void (*entry)(void **);
  void **arguments;
  int64_t threads;
  DlcMemory *results;
  int64_t resultCount;
  int64_t limit;
  const std::atomic<int64_t> *cancellations;
};

// dlc_invoke for a prepared call.
DLC_EXPORT int32_t dlc_call(const DlcCall *call);

// dlc_call for each of `calls`, which share no memory that any of them writes: as many at once as dlc_num_threads() for `threads`
// says, each on one thread; where they are fewer, one after the other, each on all. `failed` gets what each returns. Returns
// how many failed; dlc_last_error gives the message of the first of them.
DLC_EXPORT int64_t dlc_call_many(const DlcCall *const *calls, int64_t count, int64_t threads, int32_t *failed);

// Ends all calls that now run with these `cancellations`, at the next kernel of each.
DLC_EXPORT void dlc_cancel(std::atomic<int64_t> *cancellations);

// Called by entries before each kernel, which computes `nodes`: leaves the call if it was cancelled.
DLC_EXPORT void dlc_begin_kernel(const char *nodes);

// Memory for result `index` of the dlc_call that this thread is in: the caller's if it is exactly of this size, else new.
DLC_EXPORT void *dlc_result_memory(int64_t index, uint64_t size);

// --- arrays.cpp -------------------------------------------------------------------------------------------------

struct NumpyArray;

// An input or result of a call with arrays: the array object of this call (null: none for this result), and what it must be. The
// sizes of an input are those in its descriptor. Arrays of `newBytes` are made for a result before a call, none where that is 0.
// `dims` are what the model says of each size: the size itself, or ~n for dim n of those that calls decide.
struct DlcArray {
  const NumpyArray *object;
  const void *dtype;
  int64_t itemSize;
  int64_t rank;
  int64_t *descriptor;
  int64_t *sizes;
  int64_t newBytes;
  const int64_t *dims;
};

// A call with arrays, inputs before results. `type` is NumPy's class of arrays; `weights` are the begins and ends of memory that
// no result may lie in, in ascending order. `dimSizes` has room for the dims that calls decide, each of which has one size in a call.
struct DlcArrayCall {
  DlcCall call;
  DlcArray *arrays;
  int64_t inputCount;
  const void *type;
  const int64_t *weights;
  int64_t weightCount;
  int64_t *dimSizes;
  int64_t dimCount;
};

// What a call with arrays comes to: it raised an error; an array is not the row-major one that is expected, and nothing was run;
// results lie elsewhere than in the arrays given for them.
enum DlcOutcome : int32_t { DLC_DONE = 0, DLC_RAISED = 1, DLC_UNFIT = 2, DLC_ELSEWHERE = 3 };

// Points the descriptors of a call at the noted arrays for its inputs; returns 0, or 2 where one is not as expected. With
// `takesSizes`, they may have other sizes than those of the last call, where the model lets calls decide them: results are then
// expected to have the sizes that follow.
DLC_EXPORT int32_t dlc_bind_inputs(const DlcArrayCall *prepared, int32_t takesSizes);

// dlc_call of a call whose inputs were bound. The arrays noted for its results are checked if they are the caller's (`areGiven`).
DlcOutcome dlc_call_arrays(const DlcArrayCall *prepared, int32_t areGiven);

// Where a result of a call lies: in the array that was noted for it, with its sizes; there with others; in memory of its own.
enum DlcPlace : int32_t { DLC_IN_ARRAY, DLC_IN_OTHER_SIZES, DLC_IN_OWN_MEMORY };

DlcPlace dlc_place_of(const DlcArray *output);

// Expects a result of these sizes of the next call, with an array made before it if it is small.
void dlc_expect_sizes(DlcArray *output, const int64_t *sizes);

// Writes the fields that dlc_call_arrays reads: class, address, dtype, its flags, rank, sizes.
DLC_EXPORT void dlc_read_array(const NumpyArray *array, int64_t *words);

// --- python_call.cpp --------------------------------------------------------------------------------------------

struct PyObject;

// Whether the process has the functions of CPython that the next two call.
DLC_EXPORT int32_t dlc_has_python();

// Four built-in functions for calls from Python, in a tuple. Arguments of the first are arrays by position, one list or tuple of
// them, or one dict by the names `inputs` (a tuple). It takes the address of a DlcArrayCall from the end of the list `idle`, makes
// arrays for its results, and runs it without the GIL. The second takes the arguments in one and, likewise by the names
// `outputs`, the arrays for the results. Both return a list of the results; None where nothing was run, because `idle` is empty or
// an array is not as expected; else a tuple of the DlcOutcome, the address, which the caller has to put back, and the list of
// arrays for results. The third and fourth are these two for inputs of the sizes of the last call alone. `arrayType` is NumPy's class of arrays, `numpyTable` the table of its C interface. Null after a Python error.
DLC_EXPORT PyObject *dlc_new_callers(PyObject *idle, PyObject *inputs, PyObject *outputs, const void *arrayType,
                                     void *const *numpyTable);

// An array as the first of them makes it.
DLC_EXPORT PyObject *dlc_new_array(const DlcArray *array, const void *arrayType, void *const *numpyTable);

// --- errors.cpp -------------------------------------------------------------------------------------------------

// Calls entry(arguments). Returns 0, or 1 when it raised an error, whose message dlc_last_error then gives. Calls nest.
DLC_EXPORT int32_t dlc_invoke(void (*entry)(void **), void **arguments);

// Message of the last error that was raised on this thread; valid until the next one.
DLC_EXPORT const char *dlc_last_error();

// The same numbers as those of dlc_status.
enum DlcErrorKind : int32_t {
  DLC_ERROR_INVALID = 1,
  DLC_ERROR_OUT_OF_MEMORY = 2,
  DLC_ERROR_CANCELLED = 3,
  DLC_ERROR_BAD_ENGINE = 4,
  DLC_ERROR_WRONG_MACHINE = 5
};

// Facts of the last error: its DlcErrorKind; and of an allocation that failed its bytes, those that the call held, and the limit
// of the call if that was the reason, else 0.
DLC_EXPORT void dlc_last_error_facts(int64_t *facts);

// Ends the innermost dlc_invoke of this thread with an error; without one, ends the process with the message. What this
// thread has allocated in that dlc_invoke is freed. From a body of dlc_parallel_for it ends the body, and when all bodies have
// ended the dlc_invoke of the thread that called dlc_parallel_for.
DLC_EXPORT __attribute__((noreturn)) void dlc_raise(const char *message);

// The same; the last two `{}` of the message become `left` and `right`.
DLC_EXPORT __attribute__((noreturn)) void dlc_raise_dims(const char *message, int64_t left, int64_t right);

// --- profile.cpp ------------------------------------------------------------------------------------------------

// Called by code that was compiled with a profile. `start` begins a call; `charge` adds to a row of this thread what has passed
// since it was called last, or since `start`: work, and the time that one charge takes. What dlc_parallel_for takes beside the
// bodies that this thread runs, to start and to await other threads, is no row's.
DLC_EXPORT void dlc_profile_start();
DLC_EXPORT void dlc_profile_charge(int64_t row);

// Forgets this thread's rows.
DLC_EXPORT void dlc_profile_reset();

// Writes how often each row of this thread was charged, and nanoseconds, up to `capacity` rows. Returns how many rows there are.
DLC_EXPORT int64_t dlc_profile_rows(int64_t *calls, int64_t *nanoseconds, int64_t capacity);

// Nanoseconds that charged calls have spent starting and awaiting threads, and for how many ranges.
DLC_EXPORT int64_t dlc_profile_threads(int64_t *calls);

// Nanoseconds of one charge, the mean over `pairs` of one before and one after a call. Rows stay as they are.
DLC_EXPORT double dlc_profile_cost(int64_t pairs);

// Lets all threads read time, in nanoseconds, from `clock`; from the best clock of the machine again with null. For tests.
DLC_EXPORT void dlc_profile_use_clock(int64_t (*clock)());

// --- gpu/ -------------------------------------------------------------------------------------------------------
// Models on a GPU of NVIDIA's, by its driver, which is loaded (libcuda.so.1, or what DLC_CUDA_LIBRARY names) when the first of these
// is called. Where they say so, dlc_last_error has what went wrong.

struct DlcGpu;

// Of the first GPU: the driver's version of CUDA (12040 is 12.4); major and minor number of its compute capability, multiprocessors,
// its clock and the memory's in kHz, bits of the memory's bus, bytes of the L2 cache; and its name. Returns 1 where there is none.
DLC_EXPORT int32_t dlc_gpu_facts(int64_t *facts, char *name, int64_t size);

// Loads the kernels of a model: PTX, a text that ends with 0, or a cubin. Null on errors.
DLC_EXPORT DlcGpu *dlc_gpu_open(const void *image);
DLC_EXPORT void dlc_gpu_close(DlcGpu *gpu);

// The CUDA stream of the model's calls.
DLC_EXPORT uint64_t dlc_gpu_stream(const DlcGpu *gpu);

// Keeps an array of the host on the GPU until it is unbound as often; calls find it by its address. Returns 1 on errors.
DLC_EXPORT int32_t dlc_gpu_bind(DlcGpu *gpu, const void *host, uint64_t bytes);
DLC_EXPORT void dlc_gpu_unbind(DlcGpu *gpu, const void *host);

// For the next call of this thread: addresses among the arguments that are the GPU's, and memory there for results, 0 for those
// that the host gets, 1 for those whose memory the call takes itself, as by dlc_gpu_allocate. Results that are computed `inPlace` need
// no copy; the memory must be apart from the arguments then, and calls with other memory are other launches.
DLC_EXPORT void dlc_gpu_place(const uint64_t *inputs, int64_t inputCount, const uint64_t *results, int64_t resultCount, int32_t inPlace);

// Where the results of the last call of this thread lie on the GPU, 0 for those that the host got. What the call took is the caller's.
DLC_EXPORT void dlc_gpu_delivered(uint64_t *places, int64_t count);

// Memory of the GPU (0 on errors), which may be given to the next who asks for as much unless it `isShared` with others, who may not
// be done with it; and copies from there to the host and back, which are awaited (1 on errors).
DLC_EXPORT uint64_t dlc_gpu_allocate(DlcGpu *gpu, uint64_t bytes, const char *what);
DLC_EXPORT void dlc_gpu_free(DlcGpu *gpu, uint64_t address, int32_t isShared);
DLC_EXPORT int32_t dlc_gpu_read(DlcGpu *gpu, void *target, uint64_t source, uint64_t bytes);
DLC_EXPORT int32_t dlc_gpu_write(DlcGpu *gpu, uint64_t target, const void *source, uint64_t bytes);

// Called by compiled code. An entry begins and finishes; in between the GPU is this thread's, and errors leave as dlc_raise does.
// Whatever the GPU is asked for, it does in order, and not before the host waits for it: in `download`, `host_of` and `finish`.
DLC_EXPORT void dlc_gpu_begin(DlcGpu *gpu);
DLC_EXPORT void dlc_gpu_finish();

// Memory of the GPU until the call ends or it is released; for a result, where it is computed.
DLC_EXPORT void *dlc_gpu_take(uint64_t bytes);
DLC_EXPORT void *dlc_gpu_take_result(int64_t result, uint64_t bytes);
DLC_EXPORT void dlc_gpu_release(void *address);

// Where an argument of the entry is on the GPU: a weight that is bound, an input that lies there, or a copy. Where it is on the host.
DLC_EXPORT void *dlc_gpu_device_of(void *host, uint64_t bytes);
DLC_EXPORT void *dlc_gpu_host_of(void *address, uint64_t bytes);

// Copies: to the GPU, to the host, within the GPU; and of a result to whoever gets it.
DLC_EXPORT void dlc_gpu_upload(void *target, const void *source, uint64_t bytes);
DLC_EXPORT void dlc_gpu_download(void *target, const void *source, uint64_t bytes);
DLC_EXPORT void dlc_gpu_copy(void *target, const void *source, uint64_t bytes);
DLC_EXPORT void dlc_gpu_deliver(int64_t result, void *host, const void *source, uint64_t bytes);

// A tensor map (CUtensorMap), by which TMA copies from memory of the GPU at `address`, for launches of this call. `form` are the
// driver's numbers of the element type and of the swizzle, the rank, and from the innermost dim on its sizes, strides in bytes (those
// but the first) and sides of a box.
DLC_EXPORT const void *dlc_gpu_tensor_map(const void *address, const int64_t *form);

// Launches a kernel by name: sizes of grid and block, x first, bytes of dynamic shared memory, arguments of 8 bytes each, of which
// those with a bit in `tensorMaps` (1 for the first) are addresses of tensor maps: the kernel takes these by value.
DLC_EXPORT void dlc_gpu_launch(const char *kernel, const int64_t *sizes, int64_t sharedBytes, const uint64_t *arguments, int64_t count,
                               uint64_t tensorMaps);

// With a profile: what the GPU does since the charge before belongs to `row`.
DLC_EXPORT void dlc_gpu_charge(int64_t row);

// --- engines ----------------------------------------------------------------------------------------------------
// The interface of C programs is dlc/runtime.h; what follows serves Python and the compiler beside it.

struct dlc_engine;

// Version of what compiled code and the runtime expect of each other. Engines of another one are refused.
constexpr int32_t kRuntimeAbi = 1;
DLC_EXPORT int32_t dlc_runtime_abi();

// CRC-32C of bytes that follow those of the checksum `before`, 0 for none.
DLC_EXPORT uint32_t dlc_crc32c(const void *bytes, uint64_t size, uint32_t before);

// Whether engines may call the function `name`: one of this library's, or of the C library's that are listed in imports.cpp.
DLC_EXPORT int32_t dlc_provides(const char *name);

// Whether this processor has the feature, as engines name it: 1 or 0; -1 for a name that is not known.
DLC_EXPORT int32_t dlc_processor_has(const char *feature);

// Number of the chosen variant.
DLC_EXPORT int64_t dlc_engine_variant(const dlc_engine *engine);

// The model on the GPU, which lives as long as the engine; its kernels are loaded when it is first asked for. Null on errors, and for
// a variant that is not for a GPU.
DLC_EXPORT DlcGpu *dlc_engine_gpu(dlc_engine *engine);

// Of the chosen variant: the address of its entry, which takes one table of pointers, and of the elements of its parameters.
DLC_EXPORT void *dlc_engine_entry(const dlc_engine *engine);
DLC_EXPORT const void *dlc_engine_param(const dlc_engine *engine, int64_t index);

// The bytes of the engine's file, and the weights, as they are mapped.
DLC_EXPORT const void *dlc_engine_bytes(const dlc_engine *engine, uint64_t *size);
DLC_EXPORT const void *dlc_engine_weights(const dlc_engine *engine);
