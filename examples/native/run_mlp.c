/* Runs the model of model.py from C.
 *
 *   python model.py && dlc compile mlp.onnx --emit=static-lib
 *   cc run_mlp.c libmlp.a -lm -lpthread -o run_mlp && ./run_mlp
 */
#include "mlp.h"

#include <stdio.h>

enum { ROWS = 2, FEATURES = 4, CLASSES = 3 };

int main(void) {
  const float x[ROWS * FEATURES] = {0.5f, -1.0f, 2.0f, 0.25f, 1.5f, 0.0f, -0.75f, 1.0f};
  float scores[ROWS * CLASSES];
  mlp_inputs inputs = {x, ROWS};
  mlp_outputs outputs = {scores};
  mlp_context *context = NULL;
  if (mlp_init(NULL, &context) || mlp_run(context, &inputs, &outputs)) {
    fprintf(stderr, "%s\n", mlp_message());
    mlp_free(context);
    return 1;
  }
  for (int i = 0; i < ROWS * CLASSES; ++i)
    printf("%a\n", scores[i]); /* hexadecimal: every bit */
  mlp_free(context);
  return 0;
}
