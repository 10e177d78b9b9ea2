/* src/cuda/cudnn.def against NVIDIA's header. */
#include <cudnn.h>

#include "tests/headers/check.h"

#include "cuda/cudnn.def"
