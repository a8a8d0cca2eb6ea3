/* What the C code that `dlc compile --emit=lib` and its like generate says to dlc's runtime. Programs use the model's own header.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef DLC_NATIVE_MODEL_H
#define DLC_NATIVE_MODEL_H

#include <stddef.h>
#include <stdint.h>

/* Version of what generated code and this runtime expect of each other. */
#define DLC_NATIVE_ABI 1

/* In the sizes of a tensor: a size that only the call knows, and size number `index` of those that the caller gives. */
#define DLC_NATIVE_UNKNOWN INT64_MIN
#define DLC_NATIVE_SIZE(index) (-1 - (int64_t)(index))

#ifndef DLC_NATIVE_API
#define DLC_NATIVE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* An input, output or parameter; elements are in row-major order. */
typedef struct dlc_native_tensor {
  const char *name;
  const char *element; /* f32, i64, ... (docs/engine-format.md) */
  int32_t element_bytes;
  int32_t rank;
  const int64_t *sizes;
} dlc_native_tensor;

/* Weights in a file of their own, as engines have them; `file` is null where they lie in the code. */
typedef struct dlc_native_weights {
  const char *file;
  const void *memory;
  uint64_t offset; /* of the weights in the file */
  uint64_t bytes;
  uint32_t checksum; /* CRC-32C */
  unsigned char sha256[32];
} dlc_native_weights;

/* A compiled model. `places` says where each parameter begins in the weights; `features` what the processor must have. */
typedef struct dlc_native_model {
  int32_t abi;
  const char *name;
  const char *target;
  const char *architecture;
  void (*entry)(void **table);
  int32_t input_count;
  int32_t output_count;
  int32_t param_count;
  int32_t size_count;
  int32_t feature_count;
  const dlc_native_tensor *inputs;
  const dlc_native_tensor *outputs;
  const dlc_native_tensor *params;
  const uint64_t *places;
  const char *const *size_names;
  const char *const *features;
  dlc_native_weights weights;
} dlc_native_model;

typedef struct dlc_native_options {
  int64_t threads;      /* most threads of a call; 0: DLC_NUM_THREADS, else all processors */
  int64_t memory_limit; /* bytes that a call may hold beside weights and inputs; 0: what the system has */
  void *(*allocate)(void *user, size_t bytes);
  void (*release)(void *user, void *memory);
  void *user;
  const char *weights; /* path of the file of the weights; null: of the name that it was written with */
} dlc_native_options;

/* A result. Where `room` is not negative, `data` has room for that many bytes, else for what the sizes of the call ask for.
 * Without `data` one that `is_made` gets memory, which dlc_native_release takes back. `sizes` (null: not wanted) is written. */
typedef struct dlc_native_result {
  void *data;
  int64_t room;
  int64_t *sizes;
  int32_t is_made;
} dlc_native_result;

typedef struct dlc_native_context dlc_native_context;

/* Message of the last error on this thread. */
DLC_NATIVE_API const char *dlc_native_message(void);

/* These return a dlc_status (dlc/runtime.h); dlc_native_message() has the message. */
DLC_NATIVE_API int32_t dlc_native_init(const dlc_native_model *model, const dlc_native_options *options, dlc_native_context **context);
DLC_NATIVE_API int32_t dlc_native_run(dlc_native_context *context, const void *const *inputs, const int64_t *sizes,
                                      dlc_native_result *results);

/* Ends the calls that run now, each before its next kernel. */
DLC_NATIVE_API void dlc_native_cancel(dlc_native_context *context);
/* Gives memory that was made for a result back; null is allowed. */
DLC_NATIVE_API void dlc_native_release(void *memory);
/* No call may run; null is allowed. */
DLC_NATIVE_API void dlc_native_free(dlc_native_context *context);

/* A program that runs the model on files of NumPy (.npy). */
DLC_NATIVE_API int dlc_native_main(const dlc_native_model *model, int count, char **arguments);

#ifdef __cplusplus
}
#endif

#endif
