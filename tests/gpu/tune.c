/* Routes that are measured: the fastest wins, algorithms of libraries included, whichever is slow; the next process
 * knows it, on this card, with this library alone, and need not ask the library how; what is kept on disk may be
 * damaged in any way. A graph measures nothing. argv: the device. Each process is a child with a stand-in of its own,
 * in which some ways take 5 ms more. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/test.h"

#include <wick/conv.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *device_name, *driver;
static bool cuda;
static char folder[64];

/* A process: its settings, and what it calls. */
struct wish {
    const char *slow, *without, *tune, *cache, *devices, *dnn_file, *blas, *fail;
    int graph; /* which records the calls: 1 all, 2 only those that are made again; 0: none does */
    int n;     /* of the convolution's images; 0: 1 */
};

/* What a process has seen: the way that ran each call, "" for our own kernels. */
struct seen {
    char first[8], conv[8], linear[8], matmul[8]; /* `first`: of the convolution before it is made again */
    int rows, refusals;
    long asked_lt, asked_dnn; /* how often libraries were asked for ways */
    bool right;
    struct wick_tune_info info[8];
};
static struct seen *seen; /* shared with the children */

static void note(void *context, enum wick_log_level level, const char *text) {
    (void)context, (void)level;
    seen->refusals += strstr(text, "not by DNN: it refused the call") != NULL;
}

static const char *ran(void) {
    const char *(*last)(void) = NULL;
    void *library = dlopen(getenv(driver), RTLD_NOW | RTLD_NOLOAD);
    if (library) *(void **)&last = dlsym(library, "standin_ran");
    return last ? last() : "?";
}

static long calls_of(const char *function) {
    long (*calls)(const char *) = NULL;
    void *library = dlopen(getenv(driver), RTLD_NOW | RTLD_NOLOAD);
    if (library) *(void **)&calls = dlsym(library, "standin_calls");
    return calls ? calls(function) : -1;
}

enum { N = 16, MOST = 4096 };

/* Ones all over: each element of the result is the number of terms, and one more with a bias of ones. */
static struct wick_tensor *ones(struct wick_device *device, int rank, const int64_t *shape) {
    return wick_full(device, WICK_F32, rank, shape, WICK_REAL(1));
}

static bool holds(const struct wick_tensor *x, float value) {
    static float got[MOST];
    int64_t count = wick_tensor_count(x);
    bool good = x && wick_read(x, got, (size_t)count * sizeof *got) == WICK_OK;
    for (int64_t i = 0; i < count && good; i++) good = got[i] == value;
    return good;
}

/* Makes each call twice, and says who ran the second; a graph makes them when it is launched. */
static void call_all(struct wick_device *device, const struct wish *wish) {
    const int64_t n = wish->n ? wish->n : 1;
    wick_scope_begin();
    struct wick_tensor *x = ones(device, WICK_SHAPE(n, 1, 4, 4)), *w = ones(device, WICK_SHAPE(1, 1, 2, 2));
    struct wick_tensor *a = ones(device, WICK_SHAPE(N, N)), *bias = ones(device, WICK_SHAPE(N)), *y[3];
    seen->right = wick_device_sync(device) == WICK_OK;
    for (int time = 0; time < 2; time++) {
        const bool records = wish->graph == 1 || (wish->graph == 2 && time == 1);
        if (records) seen->right = wick_graph_begin(device) == WICK_OK && seen->right;
        ran();
        y[0] = wick_conv2d(x, w, NULL, NULL);
        snprintf(time ? seen->conv : seen->first, sizeof seen->conv, "%s", ran());
        y[1] = wick_linear(a, a, bias, WICK_ACTIVATION_NONE);
        snprintf(seen->linear, sizeof seen->linear, "%s", ran());
        y[2] = wick_matmul(a, a);
        snprintf(seen->matmul, sizeof seen->matmul, "%s", ran());
        struct wick_graph *graph = records ? wick_graph_end(device) : NULL;
        if (records) seen->right = graph && wick_graph_launch(graph) == WICK_OK && seen->right;
        seen->right = seen->right && holds(y[0], 4) && holds(y[1], N + 1) && holds(y[2], N);
        wick_graph_free(graph);
    }
    wick_scope_end(NULL);
}

static pid_t start(const struct wish *wish) {
    pid_t child = fork();
    if (child != 0) return child;
    setenv("STANDIN_SLOW", wish->slow ? wish->slow : "", 1);
    setenv("STANDIN_WITHOUT", wish->without ? wish->without : "", 1);
    setenv("WICK_CACHE_DIR", wish->cache ? wish->cache : folder, 1);
    setenv("WICK_TUNE", wish->tune ? wish->tune : "off", 1);
    if (wish->blas) setenv("WICK_BLAS", wish->blas, 1);
    if (wish->fail) setenv("STANDIN_FAIL", wish->fail, 1);
    if (wish->devices) setenv("STANDIN_DEVICES", wish->devices, 1);
    if (wish->dnn_file) setenv(cuda ? "WICK_CUDNN_PATH" : "WICK_MIOPEN_PATH", wish->dnn_file, 1);
    wick_log_set(note, NULL, WICK_LOG_DEBUG);
    struct wick_device *device = wick_device_open(device_name);
    if (!device) _exit(1);
    call_all(device, wish);
    seen->rows = wick_tune_count(device);
    for (int i = 0; i < seen->rows && i < 8; i++)
        seen->right = wick_tune_describe(device, i, &seen->info[i]) == WICK_OK && seen->right;
    seen->right = seen->right && wick_tune_describe(device, seen->rows, &seen->info[7]) == WICK_INVALID;
    seen->asked_lt = calls_of("cublasLtMatmulAlgoGetHeuristic");
    seen->asked_dnn = calls_of("cudnnHeuristic");
    wick_device_close(device);
    _exit(0);
}

static void finish(pid_t child) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(seen->right);
}

static void run(struct wish wish) {
    memset(seen, 0, sizeof *seen);
    finish(start(&wish));
}

static void expect(int line, const char *conv, const char *linear, const char *matmul) {
    const int before = test_failures;
    CHECK_TEXT(seen->conv, conv);
    CHECK_TEXT(seen->linear, linear);
    CHECK_TEXT(seen->matmul, matmul);
    if (test_failures > before) printf("    that was line %d\n", line);
}
#define EXPECT(conv, linear, matmul) expect(__LINE__, conv, linear, matmul)
/* What rules say of them: small products are ours, and so is what only MIOpen has. */
#define EXPECT_RULES() EXPECT(cuda ? "dnn-1" : "", "", "")

/* The first file of such a beginning and part; false when there is none. */
static bool entry(const char *start_of, const char *part, char path[512]) {
    bool found = false;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));) {
        found = strncmp(entry->d_name, start_of, strlen(start_of)) == 0 && strstr(entry->d_name, part);
        snprintf(path, 512, "%s/%s", folder, entry->d_name);
    }
    if (entries) closedir(entries);
    return found;
}

/* Deletes the files whose names begin like that. */
static void empty(const char *start) {
    char path[512];
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strncmp(entry->d_name, start, strlen(start)) == 0) (void)unlink(path);
    }
    if (entries) closedir(entries);
}

/* ---- who wins ---- */

/* The best of all but these. */
static const char slow[] = "own,dnn-1,lt-1";

static void check_winners(void) {
    run((struct wish){.slow = slow, .tune = "new"});
    EXPECT("dnn-2", "lt-2", "blas");
    CHECK_INT(seen->rows, 7); /* DNN, own; BLASLt, BLAS, own; BLAS, own */
    CHECK_INT(seen->info[0].ways, 2);
    CHECK(seen->info[0].chosen && !seen->info[1].chosen && seen->info[0].call == 0 && seen->info[2].call == 1);
    CHECK(seen->info[0].us < 5000 && seen->info[1].us > 5000);
    CHECK(seen->info[3].us > 5000 && seen->info[5].us < 5000); /* the bias is a pass of our own */
    run((struct wish){0});
    EXPECT("dnn-2", "lt-2", "blas");
    CHECK_INT(seen->rows, 0);
    run((struct wish){.slow = "dnn-2,lt-2,blas", .tune = "new"}); /* there is nothing new */
    EXPECT("dnn-2", "lt-2", "blas");
    CHECK_INT(seen->rows, 0);
    run((struct wish){.slow = "dnn-1,dnn-2,lt-1,lt-2,blas", .tune = "all"});
    EXPECT("", "", "");
    CHECK_INT(seen->rows, 7);
    run((struct wish){0});
    EXPECT("", "", "");
    run((struct wish){.slow = slow, .tune = "all"});
    run((struct wish){.graph = 1}); /* what is kept needs a search too */
    EXPECT("", "", "");
    run((struct wish){.graph = 2});
    EXPECT("dnn-2", "lt-2", "blas");
}

/* Another card, another library, and one that has lost the way; none of them harms what is kept. */
static void check_others(void) {
    char copy[512], command[1200];
    run((struct wish){.devices = cuda ? "gfx90a,sm_80" : "gfx942,sm_90"});
    EXPECT_RULES();
    snprintf(copy, sizeof copy, "%s/copy-%s", folder, cuda ? "libcudnn.so.9" : "libMIOpen.so.1");
    snprintf(command, sizeof command, "cp '%s' '%s'", getenv(cuda ? "WICK_CUDNN_PATH" : "WICK_MIOPEN_PATH"), copy);
    CHECK_INT(system(command), 0);
    run((struct wish){.dnn_file = copy});
    EXPECT(cuda ? "dnn-1" : "", "lt-2", "blas");
    run((struct wish){.without = "dnn-2"});
    EXPECT(cuda ? "dnn-1" : "", "lt-2", "blas");
    CHECK_INT(seen->refusals, 1); /* it is asked once */
    CHECK_TEXT(seen->first, seen->conv);
    run((struct wish){0});
    EXPECT("dnn-2", "lt-2", "blas");
}

/* A graph neither measures nor searches, whatever it is told. */
static void check_graph(void) {
    char path[512];
    empty("fastest-");
    run((struct wish){.graph = 1, .tune = "all"});
    EXPECT("", "", "");
    CHECK_INT(seen->rows, 0);
    CHECK(!entry("fastest-", "", path));
}

/* ---- files ---- */

static uint32_t crc(const unsigned char *data, size_t nbytes) {
    uint32_t sum = ~0u;
    for (size_t i = 0; i < nbytes; i++) {
        sum ^= data[i];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ~sum;
}

/* Numbers of the entry's header: the key's and the data's lengths, and the data's check. */
enum {
    VERSION_AT = 8,
    KEY_AT = 12,
    DATA_AT = 16,
    CHECK_AT = 24,
    HEADER = 32,
    RECORD = 232,
    ROUTE_AT = 208,
    NAME_AT = 224
};

static void put(const char *path, const unsigned char *data, size_t nbytes) {
    FILE *file = fopen(path, "w");
    CHECK(file && fchmod(fileno(file), 0644) == 0 && fwrite(data, 1, nbytes, file) == nbytes && fclose(file) == 0);
}

static size_t get(const char *path, unsigned char data[1 << 16]) {
    FILE *file = fopen(path, "r");
    const size_t nbytes = file ? fread(data, 1, 1 << 16, file) : 0;
    if (file) fclose(file);
    return nbytes;
}

/* Puts a number into a record of a good entry, whose check is right again; or cuts the data to `length`. */
static void forge(const char *path, const unsigned char *good, size_t nbytes, int at, int64_t value, size_t length) {
    static unsigned char data[1 << 20];
    uint32_t key, check;
    memcpy(data, good, nbytes);
    memcpy(&key, data + KEY_AT, sizeof key);
    unsigned char *records = data + HEADER + key;
    if (at >= 0) memcpy(records + at, &value, sizeof value);
    uint64_t left = length ? length : nbytes - HEADER - key;
    check = crc(records, left);
    memcpy(data + DATA_AT, &left, sizeof left);
    memcpy(data + CHECK_AT, &check, sizeof check);
    put(path, data, HEADER + key + left);
}

static void check_hostile(void) {
    static unsigned char good[1 << 16], bad[1 << 16];
    char path[512];
    empty("fastest-");
    run((struct wish){.slow = slow, .tune = "new"});
    CHECK(entry("fastest-", "convolutions", path));
    const size_t nbytes = get(path, good);
    CHECK(nbytes > HEADER + RECORD);
    CHECK(strstr((char *)good + HEADER, "\ncard=Stand-in GPU sm_90\ntarget=sm_90\ndriver=13000\n"));
    forge(path, good, nbytes, -1, 0, 0); /* as it was */
    run((struct wish){0});
    EXPECT("dnn-2", "lt-2", "blas");
    static const struct {
        int at;
        int64_t value;
        size_t length;
    } forged[] = {{ROUTE_AT, 77, 0}, {ROUTE_AT, -1, 0},       {ROUTE_AT, 0, 0}, /* a product's */
                  {NAME_AT, 1, 0},   {NAME_AT, INT64_MIN, 0}, {0, 5, 0},        {-1, 0, RECORD - 1}};
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        forge(path, good, nbytes, forged[i].at, forged[i].value, forged[i].length);
        run((struct wish){0});
        EXPECT("dnn-1", "lt-2", "blas");
    }
    const size_t lengths[] = {0, 20, HEADER + 9, nbytes - 1, nbytes};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memcpy(bad, good, nbytes);
        if (i == 4) bad[VERSION_AT]++;
        put(path, bad, lengths[i]);
        run((struct wish){0});
        EXPECT("dnn-1", "lt-2", "blas");
    }
    memcpy(bad, good, nbytes);
    bad[nbytes - 3] ^= 64;
    put(path, bad, nbytes);
    run((struct wish){0});
    EXPECT("dnn-1", "lt-2", "blas");
    put(path, good, nbytes);
    CHECK(truncate(path, (off_t)1 << 33) == 0); /* sparse */
    run((struct wish){.slow = slow, .tune = "new"});
    EXPECT("dnn-2", "lt-2", "blas");
    run((struct wish){0}); /* mended */
    EXPECT("dnn-2", "lt-2", "blas");
    run((struct wish){.cache = "/proc/self/nowhere", .slow = slow, .tune = "new"});
    EXPECT("dnn-2", "lt-2", "blas");
}

/* ---- recipes ---- */

#define EXPECT_ASKED(lt, dnn)                                                                                          \
    do {                                                                                                               \
        CHECK(lt ? seen->asked_lt > 0 : seen->asked_lt == 0);                                                          \
        CHECK(dnn ? seen->asked_dnn > 0 : seen->asked_dnn == 0);                                                       \
    } while (0)

/* Of a record: after its key there is the name of the way, the number of words, and the words. */
enum { COUNT_AT = 216, WORDS_AT = 224, RECIPE = 488 };

/* A damaged or foreign recipe is none: the library is asked again, and what it says takes the recipe's place. */
static void check_forged(const char *route, bool lt) {
    static unsigned char good[1 << 16];
    static const struct {
        int at;
        int64_t value;
        size_t length;
    } forged[] = {{COUNT_AT, 0, 0},         {COUNT_AT, -1, 0},     {COUNT_AT, 2, 0},  {COUNT_AT, 35, 0},
                  {COUNT_AT, INT64_MAX, 0}, {WORDS_AT, 2, 0},      {WORDS_AT, 77, 0}, {WORDS_AT, INT64_MIN, 0},
                  {WORDS_AT + 8, 512, 0},   {WORDS_AT + 8, -1, 0}, {0, 5, 0},         {-1, 0, RECIPE - 1}};
    char path[512];
    const struct wish wish = {.blas = "vendor"};
    CHECK(entry("recipes-", route, path));
    const size_t nbytes = get(path, good);
    CHECK(nbytes > HEADER + RECIPE && nbytes < HEADER + 2 * RECIPE);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        forge(path, good, nbytes, forged[i].at, forged[i].value, forged[i].length);
        run(wish);
        EXPECT("dnn-1", "lt-1", "blas");
        EXPECT_ASKED(lt, !lt);
        run(wish);
        EXPECT_ASKED(false, false);
    }
    if (lt) forge(path, good, nbytes, WORDS_AT + 40, 1, 0);  /* adds up in 16 bits, which the library would do */
    if (!lt) forge(path, good, nbytes, WORDS_AT + 16, 2, 0); /* a knob's choice that there is not */
    run(wish);
    EXPECT("dnn-1", "lt-1", "blas");
    EXPECT_ASKED(lt, !lt);
}

/* Each process tells the next one what its libraries have said; a name of a winner needs no question either. */
static void check_recipes(void) {
    const struct wish wish = {.blas = "vendor"};
    empty("recipes-");
    empty("fastest-");
    run(wish);
    EXPECT("dnn-1", "lt-1", "blas");
    EXPECT_ASKED(true, true);
    run(wish);
    EXPECT("dnn-1", "lt-1", "blas");
    EXPECT_ASKED(false, false);
    run((struct wish){.blas = "vendor", .n = 2}); /* another shape */
    EXPECT_ASKED(false, true);
    empty("recipes-");
    run(wish);
    run((struct wish){.blas = "vendor", .without = "lt-1,dnn-1"}); /* what was chosen is no more */
    EXPECT("dnn-2", "lt-2", "blas");
    EXPECT_ASKED(true, true);
    run((struct wish){.blas = "vendor", .cache = "/proc/self/nowhere"});
    EXPECT_ASKED(true, true);
    run((struct wish){.blas = "vendor", .fail = "cublasLtMatmul:1,cudnnBackendExecute:1"}); /* it has failed to run */
    EXPECT("dnn-1", "lt-1", "blas");
    EXPECT_ASKED(true, true);
    static const char *const checks[] = {"cublasLtMatmulAlgoCheck:1+", "cublasLtMatmulAlgoCapGetAttribute:1+",
                                         "cublasLtMatmulAlgoConfigGetAttribute:1+"};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        run((struct wish){.blas = "vendor", .fail = checks[i]});
        EXPECT("dnn-1", "lt-1", "blas");
        EXPECT_ASKED(true, false);
    }
    empty("recipes-");
    run(wish);
    check_forged("BLASLt", true);
    check_forged("DNN", false);
    empty("recipes-");
    run((struct wish){.slow = slow, .tune = "new"});
    run((struct wish){0});
    EXPECT("dnn-2", "lt-2", "blas");
    EXPECT_ASKED(false, false);
}

/* A process that keeps something waits for others that do, and loses nothing of theirs. */
static void check_many(void) {
    enum { MANY = 2 };
    char path[512], lock[600];
    pid_t children[MANY];
    CHECK(entry("fastest-", "convolutions", path));
    *strrchr(path, '-') = '\0'; /* the makers' hash */
    snprintf(lock, sizeof lock, "%s/.lock-%s-", folder, strrchr(path, '/') + 1);
    int file = open(lock, O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0 && flock(file, LOCK_EX) == 0);
    memset(seen, 0, sizeof *seen);
    for (int i = 0; i < MANY; i++) children[i] = start(&(struct wish){.slow = slow, .tune = "new", .n = i + 2});
    usleep(500000);
    for (int i = 0; i < MANY; i++) CHECK_INT(waitpid(children[i], NULL, WNOHANG), 0);
    CHECK(flock(file, LOCK_UN) == 0 && close(file) == 0);
    for (int i = 0; i < MANY; i++) finish(children[i]);
    for (int i = 0; i <= MANY; i++) {
        run((struct wish){.n = i + 1});
        CHECK_TEXT(seen->conv, "dnn-2");
    }
}

int main(int argc, char **argv) {
    device_name = argc > 1 ? argv[1] : "cuda:0";
    cuda = strncmp(device_name, "cuda", 4) == 0;
    driver = cuda ? "WICK_CUDA_PATH" : "WICK_HIP_PATH";
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(folder, sizeof folder, "/tmp/wick-tune-XXXXXX");
    CHECK(seen != MAP_FAILED && mkdtemp(folder));
    check_winners();
    check_others();
    check_graph();
    if (cuda) check_hostile(); /* files are the same for all */
    if (cuda) check_many();
    if (cuda) check_recipes();
    empty("");
    CHECK_INT(rmdir(folder), 0);
    return test_end();
}
