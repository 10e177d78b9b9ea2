/* The ids of many texts, for scripts that compare them. Usage: ids TOKENIZER; standard input has texts, each after its
 * number of bytes as u32, and standard output gets their ids as i32, each text's after its number of ids. */
#include <wick/wick.h>

#include <stdio.h>

int main(int argc, char **argv) {
    static char text[1 << 16];
    static int32_t ids[1 << 16];
    uint32_t nbytes;
    struct wick_tokenizer *tokenizer = wick_tokenizer_open(argc > 1 ? argv[1] : NULL);
    while (tokenizer && fread(&nbytes, 4, 1, stdin) == 1) {
        struct wick_ids out = {.ids = ids, .max = 1 << 16};
        if (nbytes > sizeof text || fread(text, 1, nbytes, stdin) != nbytes ||
            wick_tokenizer_encode_with(tokenizer, text, nbytes, 0, &out) != WICK_OK)
            break;
        int32_t n = (int32_t)out.n;
        if (fwrite(&n, 4, 1, stdout) != 1 || fwrite(ids, 4, (size_t)n, stdout) != (size_t)n) break;
    }
    wick_tokenizer_close(tokenizer);
    if (*wick_error()) fprintf(stderr, "%s\n", wick_error());
    return *wick_error() != 0;
}
