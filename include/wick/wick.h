/* Wick: eager tensors in C, one interface to CPU, CUDA and ROCm devices. This header includes every other.
 *
 *     #include <stdio.h>
 *     #include <wick/wick.h>
 *
 *     int main(void) {
 *         struct wick_device *device = wick_device_open("auto");
 *         wick_scope_begin();
 *         struct wick_tensor *x = wick_normal(device, WICK_F32, WICK_SHAPE(4, 8), 0, 1);
 *         struct wick_tensor *y = wick_softmax(wick_matmul(x, wick_t(x)), -1);
 *         float result[16];
 *         if (wick_read(y, result, sizeof result) != WICK_OK) fprintf(stderr, "%s\n", wick_error());
 *         wick_scope_end(NULL);
 *         wick_device_close(device);
 *     }
 *
 * Model. A device (device.h) holds buffers and runs ops. A tensor (tensor.h) is a strided view of a typed buffer on one
 * device; its shape and dtype never change. An op (ops.h lists them all) takes tensors and returns a new one at once;
 * there is no graph to build. Views share elements and never copy. Every op accepts any layout, any rank up to
 * WICK_MAX_RANK, dims of size 0, and sizes past 32 bits. Operands broadcast by NumPy's rule. Dtypes never mix silently.
 *
 * Failures (status.h). Constructors and ops return NULL on failure; other functions return an enum wick_status. Each
 * thread keeps its first failure, with a text that names op, operands, shapes, dtypes, device and rule. A NULL operand
 * makes the result NULL, so you check a chain of calls once, at its end. A failed call changes nothing and leaks
 * nothing. The library never ends the process and prints nothing; its warnings go to a callback.
 *
 * Ownership. A new tensor has one reference. It belongs to the thread's innermost scope or, without a scope, to the
 * caller, who gives it back with wick_release. wick_retain adds one. The comment of each function that opens something
 * names the function that closes it; closing NULL is fine. Host memory comes from a hook (memory.h), device memory from
 * a pool with statistics and a limit.
 *
 * Processes. A forked child goes on computing on the CPU, with its parent's tensors and threads of its own, whatever
 * the parent's other threads were doing. GPU drivers do not survive a fork. If the parent has loaded one, the child
 * gets WICK_DEVICE when it opens a device of that family, and from every call on a device opened before. Fork before
 * the first call that looks for devices, or use exec.
 *
 * Threads. Threads may share devices, tensors, tokenizers and models. A scope and an error belong to the thread that
 * made them. Elements change only through calls named _inplace and through wick_tensor_data and wick_tensor_address.
 * Using a tensor while another thread writes it is a race.
 *
 * Numbers. The same inputs give the same bits, run after run, on any number of threads. docs/numerics.md has the rules
 * for rounding, NaN, casts, ties and indices. */
#ifndef WICK_WICK_H
#define WICK_WICK_H

#include <wick/base.h>
#include <wick/status.h>
#include <wick/memory.h>
#include <wick/dtype.h>
#include <wick/number.h>
#include <wick/device.h>
#include <wick/stream.h>
#include <wick/graph.h>
#include <wick/kernels.h>
#include <wick/tensor.h>
#include <wick/ops.h>
#include <wick/record.h>
#include <wick/shape.h>
#include <wick/reduce.h>
#include <wick/nn.h>
#include <wick/recurrent.h>
#include <wick/loss.h>
#include <wick/linalg.h>
#include <wick/limits.h>
#include <wick/format.h>
#include <wick/text.h>
#include <wick/sample.h>
#include <wick/template.h>
#include <wick/index.h>
#include <wick/random.h>
#include <wick/conv.h>
#include <wick/elementwise.h>
#include <wick/backward.h>
#include <wick/vision.h>
#include <wick/model.h>
#include <wick/generate.h>
#include <wick/doctor.h>

#endif
