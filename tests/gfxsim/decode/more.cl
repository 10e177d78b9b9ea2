// A second compilation, which code.c links with kernels.cl.
kernel void third(global int *out, long at) { out[at] = 3; }
