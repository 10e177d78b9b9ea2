/* Runs kernels: each thread of a block is a coroutine with a stack of its own, and those of a wave take turns whenever
 * one must wait for the others. A kernel without barriers needs one stack and no switch. */
#include "standin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { THREADS = 1024, WAVE = 64, STACK = 128 << 10, PAGE = 4096 };
enum state { FRESH, READY, RUNNING, AT_WAVE, AT_BLOCK, ENDED };

/* One block runs at a time, under the lock of driver_enter, or one in each thread of a cooperative launch. */
static _Thread_local struct {
    const struct gpu_host_kernel *kernel;
    struct gpu_host *host;
    const void *params;
    int threads, wave;
    void *scheduler; /* its stack pointer while a thread runs */
    unsigned char state[THREADS], parity[THREADS];
    void *pointer[THREADS]; /* stack pointers of threads that wait */
    char *stack[THREADS];
    int order[THREADS];                             /* threads in the order in which they take turns, wave by wave */
    int position;                                   /* in order[], of the one that runs */
    int begin, end;                                 /* of its wave */
    int runnable;                                   /* fresh or ready ones of the wave */
    int alive[THREADS / 32], arrived[THREADS / 32]; /* by wave: not ended, waiting in an exchange */
    int at_block;
    u64 slots[THREADS / 32][2][WAVE];
} block;

static _Thread_local char *stacks[THREADS], *spare[THREADS];
static _Thread_local int n_stacks, n_spare;

/* ---- switching stacks: the callee-saved registers of the System V ABI go onto the old one ---- */

void standin_switch(void **save, void *to);
__asm__(".text\n"
        ".globl standin_switch\n"
        ".hidden standin_switch\n"
        ".type standin_switch, @function\n"
        "standin_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size standin_switch, . - standin_switch\n"
        ".section .note.GNU-stack,\"\",@progbits\n"
        ".text\n");

static char *take_stack(void) {
    if (n_spare) return spare[--n_spare];
    char *map = mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) abort();
    mprotect(map, PAGE, PROT_NONE);
    return stacks[n_stacks++] = map + PAGE;
}

/* ---- threads ---- */

/* A wave has 32 or 64 lanes. */
static int wave_of(int thread) { return thread >> __builtin_ctz((unsigned)block.wave); }
static int lane_of(int thread) { return thread & (block.wave - 1); }

/* Where in order[] the next thread of the wave is that can run, the current one last; -1 when there is none. */
static int next_lane(void) {
    if (block.runnable == 0) return -1;
    for (int p = block.position;;) {
        if (++p == block.end) p = block.begin;
        if (block.state[block.order[p]] <= READY) return p;
    }
}

static void run_threads(void);

static void start(int position, char *stack) {
    int thread = block.order[position];
    block.position = position;
    block.runnable--;
    block.state[thread] = RUNNING;
    block.stack[thread] = stack;
    block.host->thread = (u32)thread;
}

static void go(void **save, int position) {
    int thread = block.order[position];
    void *to = block.pointer[thread];
    char *stack = block.stack[thread];
    if (block.state[thread] == FRESH) {
        stack = take_stack();
        /* Six registers, the address to return to, and above it one that is never used, so that the stack is aligned as
         * at the start of a function. Stacks lie 33 pages apart; their ends take turns in a page, as all would be in
         * the same lines of the processor's cache otherwise. */
        void **top = (void **)(stack + STACK - (uintptr_t)stack / PAGE % 32 * 128) - 8;
        memset(top, 0, 8 * sizeof *top);
        *(void (**)(void))(top + 6) = run_threads;
        to = top;
    }
    start(position, stack);
    standin_switch(save, to);
}

static void pause_thread(int thread) {
    int next = next_lane();
    if (next >= 0)
        go(&block.pointer[thread], next);
    else
        standin_switch(&block.pointer[thread], block.scheduler);
}

/* `next` is the set of slots that the wave's next exchange takes: nobody reads from it any more what a lane that has
 * ended left there. */
static void release_wave(int wave, int next) {
    block.arrived[wave] = 0;
    int first = wave * block.wave;
    for (int i = first; i < first + block.wave && i < block.threads; i++) {
        if (block.state[i] == ENDED) block.slots[wave][next][i - first] = 0xdeadbeefdeadbeef;
        if (block.state[i] != AT_WAVE) continue;
        block.state[i] = READY;
        block.runnable++;
    }
}

static void end_thread(int thread) {
    int wave = wave_of(thread), lane = lane_of(thread);
    block.state[thread] = ENDED;
    /* What it gave in its last exchange may still be read. */
    block.slots[wave][block.parity[thread]][lane] = 0xdeadbeefdeadbeef;
    if (--block.alive[wave] == block.arrived[wave] && block.alive[wave] > 0) release_wave(wave, !block.parity[thread]);
}

/* What runs on each stack: threads one after another, as long as they end without having had to wait. */
static void run_threads(void) {
    void *unused;
    for (;;) {
        int thread = block.order[block.position];
        char *stack = block.stack[thread];
        block.kernel->run(block.params);
        end_thread(thread);
        int next = next_lane();
        if (next >= 0 && block.state[block.order[next]] == FRESH) {
            start(next, stack);
            continue;
        }
        spare[n_spare++] = stack;
        if (next >= 0)
            go(&unused, next);
        else
            standin_switch(&unused, block.scheduler);
    }
}

/* ---- what kernels call ---- */

static void sync_block(void) {
    int thread = (int)block.host->thread;
    block.state[thread] = AT_BLOCK;
    block.at_block++;
    pause_thread(thread);
}

static const u64 *exchange(u64 v) {
    int thread = (int)block.host->thread, wave = wave_of(thread);
    u64 *slots = block.slots[wave][block.parity[thread]];
    block.parity[thread] ^= 1;
    slots[lane_of(thread)] = v;
    if (++block.arrived[wave] == block.alive[wave]) {
        release_wave(wave, block.parity[thread]);
        return slots;
    }
    block.state[thread] = AT_WAVE;
    pause_thread(thread);
    return slots;
}

/* ---- blocks ---- */

static _Thread_local u64 random_state;
static unsigned random_below(unsigned n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % n);
}

static void shuffle(int *list, int n) {
    for (int i = n - 1; i > 0; i--) {
        int j = (int)random_below((unsigned)i + 1), x = list[i];
        list[i] = list[j];
        list[j] = x;
    }
}

/* Waves in random order, and lanes in each; in order without a seed. */
static void make_order(int waves) {
    int wave[THREADS / 32], n = 0;
    for (int i = 0; i < waves; i++) wave[i] = i;
    if (standin_settings.seed) shuffle(wave, waves);
    for (int i = 0; i < waves; i++) {
        int first = wave[i] * block.wave, from = n;
        for (int k = first; k < first + block.wave && k < block.threads; k++) block.order[n++] = k;
        if (standin_settings.seed) shuffle(block.order + from, n - from);
    }
}

static void run_wave(int begin, int end) {
    block.begin = begin;
    block.end = end;
    block.runnable = 0;
    for (int p = begin; p < end; p++) block.runnable += block.state[block.order[p]] <= READY;
    block.position = end - 1;
    int next = next_lane();
    if (next >= 0) go(&block.scheduler, next);
}

static void run_waves(void) {
    for (int p = 0; p < block.threads;) {
        int end = p, wave = wave_of(block.order[p]);
        while (end < block.threads && wave_of(block.order[end]) == wave) end++;
        if (block.alive[wave]) run_wave(p, end);
        p = end;
    }
}

/* False when threads of it wait for ever. */
static bool run_block(int waves) {
    memset(block.state, FRESH, (size_t)block.threads);
    memset(block.parity, 0, (size_t)block.threads);
    block.at_block = 0;
    for (int w = 0; w < waves; w++) {
        int rest = block.threads - w * block.wave;
        block.alive[w] = rest < block.wave ? rest : block.wave;
        block.arrived[w] = 0;
        for (int lane = block.alive[w]; lane < block.wave; lane++)
            block.slots[w][0][lane] = block.slots[w][1][lane] = 0xdeadbeefdeadbeef;
    }
    if (standin_settings.seed) make_order(waves);
    for (;;) {
        run_waves();
        int alive = 0;
        for (int w = 0; w < waves; w++) alive += block.alive[w];
        if (alive == 0) return true;
        if (block.at_block != alive) return false;
        block.at_block = 0;
        for (int i = 0; i < block.threads; i++)
            if (block.state[i] == AT_BLOCK) block.state[i] = READY;
    }
}

static void stuck(const struct driver_function *function) {
    int at_wave = 0;
    for (int i = 0; i < block.threads; i++) at_wave += block.state[i] == AT_WAVE;
    const u32 *at = block.host->block;
    driver_complain(
        "kernel %s, block (%u, %u, %u): %d threads wait at a barrier and %d in an exchange between lanes, for "
        "others that never come",
        function->name, at[0], at[1], at[2], block.at_block, at_wave);
    n_spare = 0;
    for (int i = 0; i < n_stacks; i++) spare[n_spare++] = stacks[i];
}

void standin_dawdle(const char *way) {
    const struct timespec while_ = {.tv_nsec = 5000000};
    if (strstr(standin_settings.slow, way)) nanosleep(&while_, NULL);
}

/* A launch, or the share of a thread in one whose blocks run at once. */
struct task {
    const struct driver_function *function;
    const struct driver_shape *shape;
    const void *params;
    struct gpu_host *host;
    const struct gpu_host_kernel *kernel;
    u64 first, end; /* blocks */
    int code;
};

/* Runs the blocks of a task, one after the other. */
static void run_task(struct task *task) {
    const unsigned *grid = task->shape->grid, threads = task->shape->block[0];
    struct gpu_host *host = task->host;
    block.kernel = task->kernel;
    block.host = host;
    block.params = task->params;
    block.threads = (int)threads;
    block.wave = (int)host->wave;
    int waves = (block.threads + block.wave - 1) / block.wave;
    random_state = standin_settings.seed;
    make_order(waves);
    host->threads = threads;
    host->sync_block = sync_block;
    host->exchange = exchange;
    for (int i = 0; i < 3; i++) host->blocks[i] = grid[i];
    /* What another block left in shared memory must not matter; large modules are filled once a launch only. */
    char *shared = host->shared[0];
    size_t size = shared ? (size_t)(host->shared[1] - shared) : 0;
    if (size) memset(shared, 0xff, size);
    for (u64 i = task->first; i < task->end; i++) {
        u64 at = standin_settings.seed & 1 ? task->end - 1 - (i - task->first) : i;
        host->block[0] = (u32)(at % grid[0]);
        host->block[1] = (u32)(at / grid[0] % grid[1]);
        host->block[2] = (u32)(at / grid[0] / grid[1]);
        if (i > task->first && size && size <= 256 << 10) memset(shared, 0xff, size);
        if (!run_block(waves)) {
            stuck(task->function);
            task->code = DRIVER_LAUNCH;
            return;
        }
    }
}

static void *run_alone(void *argument) {
    run_task(argument);
    for (int i = 0; i < n_stacks; i++) munmap(stacks[i] - PAGE, STACK + PAGE);
    return NULL;
}

/* Each block in a thread, on a copy of the module, as what blocks share is a module's variable. */
static int run_together(const struct task *all) {
    struct task tasks[STANDIN_TOGETHER];
    pthread_t threads[STANDIN_TOGETHER];
    u64 started = 0;
    int code = DRIVER_OK;
    for (u64 i = 0; i < all->end; i++) {
        const struct standin_copy *copy = standin_copy(all->function->module->code, (unsigned)i);
        if (!copy) return DRIVER_MEMORY;
        tasks[i] = *all;
        tasks[i].host = copy->host;
        tasks[i].kernel = standin_kernel(copy->library, all->function->name);
        tasks[i].first = i;
        tasks[i].end = i + 1;
    }
    while (started < all->end && pthread_create(&threads[started], NULL, run_alone, &tasks[started]) == 0) started++;
    if (started < all->end) abort(); /* those that wait for it would wait for ever */
    for (u64 i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (tasks[i].code) code = tasks[i].code;
    }
    return code;
}

int standin_run(const struct driver_function *function, const struct driver_shape *shape, const void *params) {
    const struct standin_code *code = function->module->code;
    struct task task = {.function = function,
                        .shape = shape,
                        .params = params,
                        .host = code->host,
                        .kernel = function->kernel,
                        .end = (u64)shape->grid[0] * shape->grid[1] * shape->grid[2]};
    standin_dawdle("own");
    if (shape->cooperative) return run_together(&task);
    run_task(&task);
    return task.code;
}
