/* A launch: its blocks spread over host threads, each block's waves run in turns of random length and order. */
#define _POSIX_C_SOURCE 200809L
#include "gfxsim/launch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_THREADS = 1024, /* of a block */
    MAX_LDS = 64 << 10,
    MAX_TURN = 512,          /* instructions */
    DYNAMIC_STACK = 16 << 10 /* bytes a lane, for kernels whose need the compiler cannot tell */
};

struct run {
    struct sim_launch *launch;
    struct sim_start start;
    u64 n_blocks, factor, first; /* the i-th block is (first + i * factor) % n_blocks */
    _Atomic u64 next;
};

/* A host thread's share: memory for one block at a time. */
struct worker {
    struct run *run;
    struct sim_block block;
    struct sim_counts counts;
    jmp_buf failed;
    u64 random;
    unsigned *order;     /* of the waves */
    struct arena *arena; /* all of the pointers above and below point into it */
    size_t rows_bytes, defined_bytes, scratch_bytes, known_bytes;
};

static u64 next_random(u64 *state) { /* splitmix64, by Sebastiano Vigna */
    u64 x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static u64 common_divisor(u64 a, u64 b) {
    while (b) {
        u64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- a block's memory ---- */

static size_t rounded(size_t nbytes) { return (nbytes + 63) / 64 * 64; }

/* Memory of past launches, for the next ones: fresh pages cost more than small launches do. */
struct arena {
    struct arena *next;
    size_t nbytes; /* after this header */
};
enum { HEADER = 64, SPARE_BYTES = 64 << 20 }; /* larger ones are not kept */
static struct arena *spare;
static pthread_mutex_t spare_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct arena *arena_take(size_t nbytes) {
    pthread_mutex_lock(&spare_mutex);
    struct arena *arena = spare;
    if (arena) spare = arena->next;
    pthread_mutex_unlock(&spare_mutex);
    if (arena && arena->nbytes >= nbytes) return arena;
    free(arena);
    arena = aligned_alloc(64, HEADER + nbytes);
    if (arena) arena->nbytes = nbytes;
    return arena;
}

static void arena_give(struct arena *arena) {
    if (arena->nbytes > SPARE_BYTES) {
        free(arena);
        return;
    }
    pthread_mutex_lock(&spare_mutex);
    arena->next = spare;
    spare = arena;
    pthread_mutex_unlock(&spare_mutex);
}

static bool worker_init(struct worker *worker, struct run *run) {
    struct sim_launch *launch = run->launch;
    const struct sim_kernel *kernel = launch->kernel;
    struct sim_block *block = &worker->block;
    memset(worker, 0, sizeof *worker);
    worker->run = run;
    block->launch = launch;
    block->failed = &worker->failed;
    block->n_waves = (launch->block[0] * launch->block[1] * launch->block[2] + kernel->wave - 1) / kernel->wave;
    block->lds_bytes = kernel->lds + launch->shared;
    size_t n = block->n_waves, rows = kernel->n_vgprs ? kernel->n_vgprs : 1;
    size_t scratch = kernel->scratch + (kernel->dynamic_stack ? DYNAMIC_STACK : 0);
    worker->rows_bytes = n * rows * sizeof(u32[64]);
    worker->defined_bytes = rounded(n * rows * sizeof(u64));
    worker->scratch_bytes = rounded(n * 64 * scratch);
    worker->known_bytes = sim_settings.check ? rounded(block->lds_bytes * sizeof(struct sim_lds_byte)) : 0;
    size_t lds_bytes = rounded(block->lds_bytes), waves_bytes = rounded(n * sizeof(struct sim_wave));
    size_t nbytes = worker->rows_bytes + worker->defined_bytes + 2 * worker->scratch_bytes + worker->known_bytes +
                    lds_bytes + waves_bytes + rounded(n * sizeof *worker->order);
    worker->arena = arena_take(nbytes);
    if (!worker->arena) return false;
    char *at = (char *)worker->arena + HEADER;
    char *all_rows = at;
    char *all_defined = at += worker->rows_bytes;
    char *all_scratch = at += worker->defined_bytes;
    block->waves = (struct sim_wave *)(void *)(at += 2 * worker->scratch_bytes);
    block->lds = (u8 *)(at += waves_bytes);
    at += lds_bytes;
    if (worker->known_bytes) block->lds_known = (struct sim_lds_byte *)(void *)at;
    worker->order = (unsigned *)(void *)(at + worker->known_bytes);
    memset(block->waves, 0, waves_bytes);
    for (size_t i = 0; i < n; i++) {
        struct sim_wave *wave = &block->waves[i];
        wave->v = (u32(*)[64])(void *)(all_rows + i * rows * sizeof(u32[64]));
        wave->v_defined = (u64 *)(void *)(all_defined + i * rows * sizeof(u64));
        wave->n_v = (u32)rows;
        wave->n_arch = kernel->n_arch_vgprs;
        wave->scratch = all_scratch + i * 64 * scratch;
        wave->scratch_shadow = (u8 *)all_scratch + worker->scratch_bytes + i * 64 * scratch;
        wave->scratch_bytes = (u32)scratch;
        wave->size = kernel->wave;
        wave->id = (unsigned)i;
        wave->block = block;
        wave->code = kernel->code;
        wave->target = kernel->code->target;
        wave->counts = sim_settings.count ? &worker->counts : NULL;
        worker->order[i] = (unsigned)i;
    }
    return true;
}

/* Size and waves of the block whose id is set; the threads it has. */
static u32 set_size(struct worker *worker) {
    struct sim_block *block = &worker->block;
    const struct sim_launch *launch = block->launch;
    for (unsigned i = 0; i < 3; i++) {
        bool smaller = launch->rest[i] && block->id[i] == launch->grid[i] - 1;
        block->size[i] = smaller ? launch->rest[i] : launch->block[i];
    }
    u32 threads = block->size[0] * block->size[1] * block->size[2], wave = launch->kernel->wave;
    u32 n = (threads + wave - 1) / wave;
    for (u32 i = 0; n != block->n_waves && i < n; i++) worker->order[i] = i;
    block->n_waves = n;
    return threads;
}

static void start_block(struct worker *worker, u32 number) {
    struct sim_block *block = &worker->block;
    const struct sim_launch *launch = block->launch;
    block->number = number;
    block->id[0] = number % launch->grid[0];
    block->id[1] = number / launch->grid[0] % launch->grid[1];
    block->id[2] = number / launch->grid[0] / launch->grid[1];
    block->epoch = 1;
    u32 threads = set_size(worker);
    memset(block->waves[0].v, 0, worker->rows_bytes);
    memset(block->waves[0].v_defined, 0, worker->defined_bytes);
    memset(block->lds, 0, block->lds_bytes);
    if (block->lds_known) memset(block->lds_known, 0, worker->known_bytes);
    if (worker->scratch_bytes) memset(block->waves[0].scratch_shadow, SIM_UNDEFINED, worker->scratch_bytes);
    for (u32 i = 0; i < block->n_waves; i++) {
        struct sim_wave *wave = &block->waves[i];
        u32 left = threads - i * wave->size;
        wave->lanes = left >= wave->size ? ~(u64)0 >> (64 - wave->size) : ((u64)1 << left) - 1;
        wave->inst = NULL;
        wave->state = SIM_RUNS;
        wave->barrier_signalled = 0;
        wave->steps = 0;
        sim_start_wave(launch, &worker->run->start, wave);
    }
    worker->random = sim_settings.seed * 0x2545f4914f6cdd1du + number;
}

/* ---- running ---- */

static const struct sim_inst *fetch(struct sim_wave *wave, u64 offset) {
    char why[256];
    if (offset >= wave->code->text_bytes || offset % 4)
        sim_fail(wave, -1, 719, "the wave leaves the code, for 0x%llx", (unsigned long long)wave->pc);
    const struct sim_inst *inst = sim_code_inst(wave->code, wave->pc, why);
    if (!inst) {
        wave->inst = NULL;
        sim_fail(wave, -1, 719, "unknown instruction: %s", why);
    }
    return inst;
}

static void count(struct sim_counts *counts, const struct sim_wave *wave, unsigned class) {
    counts->instructions[class]++;
    counts->lanes[class] += (unsigned)__builtin_popcountll(SIM_EXEC64(wave));
}

/* Runs a wave until it ends, waits or its turn is over. */
static void run_turn(struct sim_wave *wave, u64 turn) {
    struct sim_code *code = wave->code;
    const u64 text = code->text;
    u64 left = turn;
    if (sim_settings.steps - wave->steps < left) left = sim_settings.steps - wave->steps;
    if (left == 0)
        sim_fail(wave, -1, 719, "endless loop: the wave has run %llu instructions (GFXSIM_STEPS)",
                 (unsigned long long)wave->steps);
    wave->steps += left;
    do {
        u64 offset = wave->pc - text;
        const struct sim_inst *inst = NULL;
        if (offset < code->text_bytes) inst = atomic_load_explicit(&code->cache[offset / 4], memory_order_acquire);
        if (!inst || inst->pc != wave->pc) inst = fetch(wave, offset);
        wave->inst = inst;
        wave->pc += inst->nbytes;
        if (wave->counts) count(wave->counts, wave, inst->op->class);
        inst->run(wave, inst);
        left--;
    } while (left && wave->state == SIM_RUNS);
    wave->steps -= left;
}

/* Lets waves go on once all have arrived at a barrier or ended. */
static void pass_barrier(struct sim_block *block) {
    struct sim_wave *first = NULL;
    u32 ended = 0;
    for (u32 i = 0; i < block->n_waves; i++) {
        struct sim_wave *wave = &block->waves[i];
        if (wave->state == SIM_ENDED) {
            ended++;
        } else if (wave->barrier_signalled != 1) {
            return;
        } else if (wave->state == SIM_WAITS) {
            if (!first) first = wave;
            if (sim_settings.check && wave->inst->pc != first->inst->pc)
                sim_fail(wave, -1, 719, "a barrier that some waves never reach: wave %u waits at another, at 0x%llx",
                         first->id, (unsigned long long)(first->inst->pc - (u64)(uintptr_t)wave->code->memory));
        }
    }
    if (sim_settings.check && ended && first)
        sim_fail(first, -1, 719, "a barrier that some waves never reach: %u of the block's %u have ended", ended,
                 block->n_waves);
    for (u32 i = 0; i < block->n_waves; i++) {
        struct sim_wave *wave = &block->waves[i];
        if (wave->state == SIM_WAITS) {
            wave->state = SIM_RUNS;
            wave->barrier_signalled = 0;
        } else {
            wave->barrier_signalled = 2;
        }
    }
    block->epoch++;
}

static void run_waves(struct worker *worker) {
    struct sim_block *block = &worker->block;
    for (u32 ended = 0; ended < block->n_waves;) {
        if (atomic_load_explicit(&block->launch->failed, memory_order_relaxed)) return;
        ended = 0;
        for (u32 i = block->n_waves; i > 0; i--) {
            u64 random = next_random(&worker->random);
            u32 with = (u32)((random >> 32) % i);
            unsigned at = worker->order[with];
            worker->order[with] = worker->order[i - 1];
            worker->order[i - 1] = at;
            struct sim_wave *wave = &block->waves[at];
            if (wave->state == SIM_RUNS) run_turn(wave, 1 + random % MAX_TURN);
            ended += wave->state == SIM_ENDED;
        }
        if (ended < block->n_waves) pass_barrier(block);
    }
}

static void run_block(struct worker *worker, u32 number) {
    start_block(worker, number);
    if (setjmp(worker->failed)) return;
    run_waves(worker);
    worker->counts.waves += worker->block.n_waves;
}

/* False when there are no more. */
static bool run_next_block(struct worker *worker) {
    struct run *run = worker->run;
    u64 i = atomic_fetch_add(&run->next, 1);
    if (i >= run->n_blocks || atomic_load(&run->launch->failed)) return false;
    run_block(worker, (u32)((run->first + i * run->factor) % run->n_blocks));
    return true;
}

static void *run_blocks(void *worker) {
    while (run_next_block(worker)) continue;
    return NULL;
}

/* Whether blocks are left after 0.1 ms: threads cost nearly as much to start. */
static bool run_some_blocks(struct worker *worker) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        if (!run_next_block(worker)) return false;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000 + (now.tv_nsec - start.tv_nsec) < 100000);
    return atomic_load(&worker->run->next) < worker->run->n_blocks;
}

/* ---- launches ---- */

static const char *refused(const struct sim_launch *launch, char text[128]) {
    const struct sim_kernel *kernel = launch->kernel;
    u64 threads = (u64)launch->block[0] * launch->block[1] * launch->block[2];
    for (unsigned i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->block[i] == 0) return "an empty grid or block";
        if (launch->block[i] > MAX_THREADS) return "a block is larger than the card's limit";
        if (launch->rest[i] >= launch->block[i]) return "the last block is no smaller than the others";
        if (launch->rest[i] && kernel->uniform)
            return "a smaller last block of a kernel compiled for blocks of one size";
    }
    if ((u64)launch->grid[0] * launch->grid[1] > UINT32_MAX ||
        (u64)launch->grid[0] * launch->grid[1] * launch->grid[2] > UINT32_MAX)
        return "the grid has more blocks than the card can count";
    u64 limit = kernel->max_threads && kernel->max_threads < MAX_THREADS ? kernel->max_threads : MAX_THREADS;
    if (threads > limit)
        snprintf(text, 128, "a block has %llu threads, the kernel was compiled for at most %llu",
                 (unsigned long long)threads, (unsigned long long)limit);
    else if ((u64)kernel->lds + launch->shared > MAX_LDS)
        snprintf(text, 128, "a block asks for %llu bytes of LDS, the card has %d",
                 (unsigned long long)kernel->lds + launch->shared, MAX_LDS);
    else
        return NULL;
    return text;
}

static void add_counts(struct sim_counts *sum, const struct sim_counts *counts) {
    /* All of it is u64. */
    u64 *to = (u64 *)sum;
    const u64 *from = (const u64 *)counts;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) to[i] += from[i];
}

/* Runs all blocks on as many host threads as there are, of which the caller is one. Blocks that may wait for each other
 * get a thread each. False when memory or threads have run out. */
static bool run_all(struct run *run) {
    bool together = run->launch->cooperative;
    u64 n = together || sim_settings.threads >= run->n_blocks ? run->n_blocks : sim_settings.threads;
    u64 ready = 0, started = 1;
    struct worker *workers = calloc(n, sizeof *workers);
    pthread_t *threads = calloc(n, sizeof *threads);
    if (workers && threads && worker_init(&workers[0], run)) ready = 1;
    bool done = ready > 0;
    if (ready && (together || run_some_blocks(&workers[0]))) {
        while (ready < n && worker_init(&workers[ready], run)) ready++;
        while (started < ready && pthread_create(&threads[started], NULL, run_blocks, &workers[started]) == 0)
            started++;
        if (together && started < n) {
            done = false;
            atomic_store(&run->launch->failed, 719);
        }
        run_blocks(&workers[0]);
        for (u64 i = 1; i < started; i++) pthread_join(threads[i], NULL);
    }
    if (ready && sim_settings.count) {
        struct sim_counts sum = {.launches = 1};
        for (u64 i = 0; i < ready; i++) add_counts(&sum, &workers[i].counts);
        sim_profile_add(run->launch, &sum);
    }
    for (u64 i = 0; i < ready; i++) arena_give(workers[i].arena);
    free(workers);
    free(threads);
    return done;
}

int sim_launch_run(struct sim_launch *launch) {
    sim_settings_read();
    struct run run = {.launch = launch};
    atomic_store(&launch->failed, 0);
    atomic_store(&launch->doubts, 0);
    launch->tolerant = sim_tolerates(launch->kernel->name);
    char text[128];
    const char *why = refused(launch, text);
    if (!why && !sim_start_new(launch, &run.start)) why = "device memory has run out";
    if (why) {
        sim_report(launch, why);
        return 719;
    }
    run.n_blocks = (u64)launch->grid[0] * launch->grid[1] * launch->grid[2];
    u64 random = sim_settings.seed;
    run.first = next_random(&random) % run.n_blocks;
    /* Any factor that has no divisor in common with the number of blocks reaches each of them once. */
    run.factor = next_random(&random) % run.n_blocks;
    while (common_divisor(run.factor, run.n_blocks) != 1) run.factor = (run.factor + 1) % run.n_blocks;
    sim_trace(launch);
    struct sim_record *record = sim_settings.record ? sim_record_new(launch, &run.start) : NULL;
    bool done = run_all(&run);
    sim_record_end(record, launch, done && !atomic_load(&launch->failed));
    sim_start_free(&run.start);
    if (!done) sim_report(launch, "the host's memory or threads have run out");
    return done ? atomic_load(&launch->failed) : 719;
}
