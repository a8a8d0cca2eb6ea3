/* Runs ResNet-50 of a static library on the image of the README's program, and prints as that does. */
#include "resnet50.h"

#include <stdio.h>

int main(void) {
  static float pixels[RESNET50_IMAGE_ELEMENTS], scores[RESNET50_LOGITS_ELEMENTS];
  for (int i = 0; i < RESNET50_IMAGE_ELEMENTS; ++i) pixels[i] = i % 7;
  resnet50_context *context;
  resnet50_inputs inputs = {pixels};
  resnet50_outputs outputs = {scores};
  if (resnet50_init(NULL, &context) || resnet50_run(context, &inputs, &outputs))
    return fprintf(stderr, "%s\n", resnet50_message()), 1;
  for (int i = 0; i < RESNET50_LOGITS_ELEMENTS; ++i) printf("%.9g\n", scores[i]);
  resnet50_free(context);
}
