/* y: the tables of a solah model in integers; see sample.h. */
#include "sample.h"

#define SOLAH_N_CLASSES 3
#define SOLAH_N_VALUES 2
#define SOLAH_N_STAGES 1
#define SOLAH_MAX_INPUTS 2
#define SOLAH_MAX_DEPTH 2
#define SOLAH_AT uint8_t
#define SOLAH_NODE uint8_t
#define SOLAH_INPUT int8_t
#include "solah_fixed.h"

/* Tree 1. */
static const solah_asked asked_1[] = {
    {SOLAH_READING, 0, 0},
    {SOLAH_READING, 1, 0},
};
static const SOLAH_NODE offset_1[] = {
    0, 3, 8
};
static const SOLAH_INPUT split_1[] = {
    0, -1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_NODE child_1[] = {
    1, 9, 4, 9, 0, 7, 6, 8, 4, 3, 10, 2, 1, 5
};
static const int16_t peak_1[] = {
    -17845, -10317, 20937, -22531, -9782, -208, 6292, 19557
};
static const uint16_t inverse_1[] = {
    35658, 34355, 0, 42110, 56075, 41297, 40472, 0
};
static const uint8_t shift_1[] = {
    13, 15, 0, 14, 14, 13, 14, 0
};
static const uint16_t ignorance_1[] = {
    20695, 5733, 6340, 870, 6233, 3123, 4652, 17890
};
static const int16_t leaf_1[] = {
    -12471, 8984, -8711, 355, 137, 957, 875, 4388, 1930, 4230, 4252, 1680, 5006, 13829, 5217,
    7344, 6569, 14529, 10037, 19519, 10557, 17016
};

/* Tree 2. */
static const solah_asked asked_2[] = {
    {SOLAH_STATE, 2, 0},
    {SOLAH_READING, 3, 0},
};
static const SOLAH_NODE offset_2[] = {
    0, 3, 8
};
static const SOLAH_INPUT split_2[] = {
    0, -1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_NODE child_2[] = {
    1, 2, 4, 9, 6, 8, 4, 7, 3, 1, 0, 9, 10, 5
};
static const int16_t peak_2[] = {
    0, 1, 2, -12250, -2631, 3090, 7098, 23038
};
static const uint16_t inverse_2[] = {
    32768, 32768, 0, 55813, 46921, 33487, 33680, 0
};
static const uint8_t shift_2[] = {
    0, 0, 0, 14, 13, 12, 14, 0
};
static const uint16_t ignorance_2[] = {
    7525, 6068, 19175, 12399, 9517, 1601, 9012, 239
};
static const int16_t leaf_2[] = {
    -7714, 51, -5339, 1832, -3845, -2597, -2571, -6145, -1927, -2187, -1284, 3477, 423, -1456,
    815, 5954, 3145, -5335, 3402, 8576, 10880, 6061
};

/* Tree 3. */
static const solah_asked asked_3[] = {
    {SOLAH_READING, 4, 0},
    {SOLAH_READING, 5, 0},
};
static const SOLAH_NODE offset_3[] = {
    0, 4, 9
};
static const SOLAH_INPUT split_3[] = {
    0, 1, -1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_NODE child_3[] = {
    1, 5, 6, 10, 15, 8, 12, 14, 10, 3, 11, 5, 7, 0, 1, 9, 15, 2, 4, 13
};
static const int16_t peak_3[] = {
    2048, 5120, 14336, 16384, -10365, 17, 5490, 19513, 28665
};
static const uint16_t inverse_3[] = {
    43690, 58254, 32768, 0, 51711, 49047, 38285, 58661, 0
};
static const uint8_t shift_3[] = {
    12, 14, 11, 0, 14, 13, 14, 14, 0
};
static const uint16_t ignorance_3[] = {
    11957, 10554, 522, 9735, 5934, 8336, 4684, 12953, 861
};
static const int16_t leaf_3[] = {
    -29699, -25894, -23614, -11108, -21276, -8973, -20767, -26144, -15192, -19541, -12045,
    -20056, -10998, -29021, -7399, -13912, -7012, -25402, 3763, -13169, 7376, 13139, 7956, 525,
    9829, -12330, 12384, -9025, 12623, -18826, 17184, -3485
};

static const solah_walk walks[] = {
    {asked_1, 2, {peak_1, inverse_1, shift_1, ignorance_1, offset_1}, split_1, child_1, leaf_1},
    {asked_2, 2, {peak_2, inverse_2, shift_2, ignorance_2, offset_2}, split_2, child_2, leaf_2},
    {asked_3, 2, {peak_3, inverse_3, shift_3, ignorance_3, offset_3}, split_3, child_3, leaf_3},
};

static const int32_t start_1[] = {
    -2761, -5356
};

static const solah_stage stages[] = {
    {start_1, 1, 12, 0, 0, 0, 0, 0, 3}, /* y */
};

static const solah_model model = {NULL, NULL, NULL, NULL, NULL, walks, stages, NULL};

int sample_decide(const int32_t readings[SAMPLE_N_READINGS], uint16_t belief[SAMPLE_N_CLASSES])
{
    return solah_decide(&model, readings, belief);
}

const char *sample_class_name(int place)
{
    static const char *const names[] = {
        "c0",
        "c1",
        "c2",
    };
    return (place >= 0 && place < SAMPLE_N_CLASSES) ? names[place] : "";
}
