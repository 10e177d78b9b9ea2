/* What the parts of the parser share: a place in a line, and what can be read there. */
#ifndef GFXSIM_TEXT_H
#define GFXSIM_TEXT_H

#include "gfxsim.h"

struct sim_reader {
    const char *at;
    enum sim_target target;
    char *why; /* 256 bytes */
};

/* Says what is wrong at the reader's place; false. */
bool sim_text_error(struct sim_reader *r, const char *what);
/* Steps over `word` if it is there; a word that ends in a letter must not go on. */
bool sim_text_take(struct sim_reader *r, const char *word);
/* The length of the word of letters, digits and _ that starts here. */
size_t sim_text_word(const struct sim_reader *r);
/* -12, 0x1f. False without a message when there is no number. */
bool sim_text_number(struct sim_reader *r, i64 *number);
/* Up to 8 numbers: [0,1,1]. Returns how many; 0, with a message, when there is no such list. */
unsigned sim_text_list(struct sim_reader *r, i64 numbers[8]);

/* text_operand.c: one operand, without its type. */
bool sim_text_operand(struct sim_reader *r, struct sim_operand *operand);
/* text_modifier.c: one modifier into the instruction. `known`: whether the word here is one at all. */
bool sim_text_modifier(struct sim_reader *r, struct sim_inst *inst, bool *known);

#endif
