/* The C interface of dlc's runtime library: loads engine files (docs/engine-format.md) and runs them.
 *
 * A function that can fail returns a dlc_status; dlc_last_error() then has the message, of this thread. Threads may call an engine
 * at the same time. Names that begin with dlc_ are the library's; those that are not declared here are no part of the interface.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef DLC_RUNTIME_H
#define DLC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/* Semantic version of this interface: programs that were compiled with an older minor version go on to work. */
#define DLC_RUNTIME_MAJOR 1
#define DLC_RUNTIME_MINOR 0
#define DLC_RUNTIME_PATCH 0

/* Most dims of a tensor. */
#define DLC_MAX_RANK 32
/* As the rank of an input: the shape of the engine's signature, which must be static. */
#define DLC_SIGNATURE_SHAPE (-1)
/* In a signature: a size that each call chooses. */
#define DLC_DYNAMIC (-1)

#ifndef DLC_API
#define DLC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dlc_status {
  DLC_OK = 0,
  DLC_INVALID_ARGUMENT = 1, /* arguments that do not fit the signature, or values that the model refuses */
  DLC_OUT_OF_MEMORY = 2,    /* the system has no more, or the engine's memory limit is reached */
  DLC_CANCELLED = 3,
  DLC_BAD_ENGINE = 4,   /* the file is no engine, is damaged, or of another version */
  DLC_WRONG_MACHINE = 5 /* the engine has no code that this machine can run, or its GPU has failed */
} dlc_status;

typedef struct dlc_engine dlc_engine;

/* How an engine is loaded. Zero everything (= {sizeof(dlc_options)}) for the defaults. */
typedef struct dlc_options {
  size_t size;            /* sizeof(dlc_options) */
  int64_t threads;        /* most threads of a call; 0: DLC_NUM_THREADS, else all processors */
  int64_t memory_limit;   /* bytes that a call may hold beside weights and inputs; 0: what the system has */
  const char *weights;    /* file of the weights, where they lie apart; null: of the name in the engine, beside it */
  int32_t verify_at_load; /* check the weights, and give kernels to the driver of a GPU, now and not at the first call */
} dlc_options;

/* An input or output as the engine declares it; lives as long as the engine. */
typedef struct dlc_tensor_type {
  const char *name;
  const char *element;      /* f32, f16, bf16, i64, ui8, i1, ... (docs/engine-format.md) */
  int64_t element_bytes;    /* bytes of an element in memory */
  int64_t rank;
  const int64_t *sizes;     /* rank of them; DLC_DYNAMIC where a call chooses */
  const char *const *names; /* rank of them; names of dynamic sizes, equal ones are equal in a call; else null */
  int32_t donated;          /* a call may write to the memory of this input */
} dlc_tensor_type;

/* Elements in row-major order. */
typedef struct dlc_tensor {
  void *data;
  uint64_t bytes; /* of an input: its elements'; of an output with memory: how many there are room for */
  int64_t rank;
  int64_t sizes[DLC_MAX_RANK];
} dlc_tensor;

/* `status` and `message` as of a call that has ended; the message is null after DLC_OK. */
typedef void (*dlc_callback)(void *context, dlc_status status, const char *message);

/* Version of the library that is loaded, as DLC_RUNTIME_MAJOR * 1000000 + DLC_RUNTIME_MINOR * 1000 + DLC_RUNTIME_PATCH. */
DLC_API int32_t dlc_runtime_version(void);

/* Message of the last error on this thread; valid until the next one. */
DLC_API const char *dlc_last_error(void);

/* Loads the engine file at `path`; `options` may be null. Code and weights are mapped, so that processes share them. The file
 * must not be changed while the engine lives; to replace it, rename another one over it. */
DLC_API dlc_status dlc_engine_load(const char *path, const dlc_options *options, dlc_engine **engine);

/* The same for `size` bytes in memory, which are read where they lie and must live as long as the engine. */
DLC_API dlc_status dlc_engine_load_memory(const void *bytes, size_t size, const dlc_options *options, dlc_engine **engine);

/* Waits for the calls that run; null is allowed. */
DLC_API void dlc_engine_free(dlc_engine *engine);

/* The signature. A null pointer for an index that there is not. */
DLC_API int64_t dlc_engine_input_count(const dlc_engine *engine);
DLC_API int64_t dlc_engine_output_count(const dlc_engine *engine);
DLC_API const dlc_tensor_type *dlc_engine_input(const dlc_engine *engine, int64_t index);
DLC_API const dlc_tensor_type *dlc_engine_output(const dlc_engine *engine, int64_t index);

/* The manifest, JSON of `size` bytes, and the target of the variant that was chosen for this machine. */
DLC_API const char *dlc_engine_manifest(const dlc_engine *engine, size_t *size);
DLC_API const char *dlc_engine_target(const dlc_engine *engine);

/* Compares the weights with their checksum, once; the first call does it if nobody has before. */
DLC_API dlc_status dlc_engine_verify(dlc_engine *engine);

/* Runs the engine on its inputs in order. An output with memory (`data`) gets its elements there; one without gets memory that
 * dlc_tensor_free gives back. Rank, sizes and bytes of outputs are written. After an error no output has new memory. */
DLC_API dlc_status dlc_engine_run(dlc_engine *engine, const dlc_tensor *inputs, int64_t input_count, dlc_tensor *outputs,
                                  int64_t output_count);

/* The same on a thread of its own, which calls `callback` at the end. Tensors must live until then. An error that is known at once
 * is returned, and the callback is not called. */
DLC_API dlc_status dlc_engine_run_async(dlc_engine *engine, const dlc_tensor *inputs, int64_t input_count, dlc_tensor *outputs,
                                        int64_t output_count, dlc_callback callback, void *context);

/* Gives memory that a call made for an output back. */
DLC_API void dlc_tensor_free(dlc_tensor *tensor);

/* Ends the calls of the engine that run now, each before its next kernel, with DLC_CANCELLED. */
DLC_API void dlc_engine_cancel(dlc_engine *engine);

/* Names of the kernels that an engine compiled with a profile charges its time to: rows of the profile from row 1 on, row 0 is all
 * else. A null pointer for a row that there is not. */
DLC_API int64_t dlc_engine_kernel_count(const dlc_engine *engine);
DLC_API const char *dlc_engine_kernel(const dlc_engine *engine, int64_t row);

/* Forgets the profile of this thread's calls; writes how often each row was charged, and nanoseconds, up to `capacity` rows, and
 * returns how many rows there are. */
DLC_API void dlc_profile_reset(void);
DLC_API int64_t dlc_profile_rows(int64_t *calls, int64_t *nanoseconds, int64_t capacity);

#ifdef __cplusplus
}
#endif

#endif
