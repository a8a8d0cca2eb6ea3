/* What the C code that `dlc compile --emit=c-runtime` generates says to its runtime: one thread, and memory of the program's alone.
 * Programs use the model's own header.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef DLC_C_RUNTIME_H
#define DLC_C_RUNTIME_H

#include <dlc/native_model.h>

/* Bytes at the start of the arena that the runtime has for itself, and what places in the arena are multiples of. */
#define DLC_C_RUNTIME_BYTES 512
#define DLC_C_RUNTIME_ALIGNMENT 64

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dlc_c_runtime_context dlc_c_runtime_context;

/* Statuses are those of dlc/runtime.h: 0, or 1 for arguments that do not fit, 2 for an arena that is too small. dlc_c_runtime_message()
 * has the message. `arena` has `bytes`, of which `needed` are asked for; the context lies in it. */
int32_t dlc_c_runtime_init(const dlc_native_model *model, void *arena, size_t bytes, size_t needed, dlc_c_runtime_context **context);

/* All sizes of inputs and results are the model's; `results` are where results go. One call of a program at a time. */
int32_t dlc_c_runtime_run(dlc_c_runtime_context *context, const void *const *inputs, void *const *results);

/* Message of the last error. */
const char *dlc_c_runtime_message(void);

#ifdef __cplusplus
}
#endif

#endif
