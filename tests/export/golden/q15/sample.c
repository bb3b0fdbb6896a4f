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
#define SOLAH_REASON sample_reason
#include "solah_fixed.h"

/* Tree 1. */
static const SOLAH_FLASH solah_asked asked_1[] = {
    {SOLAH_READING, 0, 0},
    {SOLAH_READING, 1, 0},
};
static const SOLAH_FLASH SOLAH_NODE offset_1[] = {
    0, 3, 8
};
static const SOLAH_FLASH SOLAH_INPUT split_1[] = {
    0, -1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_FLASH SOLAH_NODE child_1[] = {
    1, 9, 4, 9, 0, 7, 6, 8, 4, 3, 10, 2, 1, 5
};
static const SOLAH_FLASH int16_t peak_1[] = {
    -17845, -10317, 20937, -22531, -9782, -208, 6292, 19557
};
static const SOLAH_FLASH uint16_t inverse_1[] = {
    35658, 34355, 0, 42110, 56075, 41297, 40472, 0
};
static const SOLAH_FLASH uint8_t shift_1[] = {
    13, 15, 0, 14, 14, 13, 14, 0
};
static const SOLAH_FLASH uint16_t ignorance_1[] = {
    20695, 5733, 6340, 870, 6233, 3123, 4652, 17890
};
static const SOLAH_FLASH int16_t leaf_1[] = {
    -12471, 8984, -8711, 355, 137, 957, 875, 4388, 1930, 4230, 4252, 1680, 5006, 13829, 5217,
    7344, 6569, 14529, 10037, 19519, 10557, 17016
};

/* Tree 2. */
static const SOLAH_FLASH solah_asked asked_2[] = {
    {SOLAH_STATE, 2, 0},
    {SOLAH_READING, 3, 0},
};
static const SOLAH_FLASH SOLAH_NODE offset_2[] = {
    0, 3, 8
};
static const SOLAH_FLASH SOLAH_INPUT split_2[] = {
    0, -1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_FLASH SOLAH_NODE child_2[] = {
    1, 2, 4, 9, 6, 8, 4, 7, 3, 1, 0, 9, 10, 5
};
static const SOLAH_FLASH int16_t peak_2[] = {
    0, 1, 2, -12250, -2631, 3090, 7098, 23038
};
static const SOLAH_FLASH uint16_t inverse_2[] = {
    32768, 32768, 0, 55813, 46921, 33487, 33680, 0
};
static const SOLAH_FLASH uint8_t shift_2[] = {
    0, 0, 0, 14, 13, 12, 14, 0
};
static const SOLAH_FLASH uint16_t ignorance_2[] = {
    7525, 6068, 19175, 12399, 9517, 1601, 9012, 239
};
static const SOLAH_FLASH int16_t leaf_2[] = {
    -7714, 51, -5339, 1832, -3845, -2597, -2571, -6145, -1927, -2187, -1284, 3477, 423, -1456,
    815, 5954, 3145, -5335, 3402, 8576, 10880, 6061
};

/* Tree 3. */
static const SOLAH_FLASH solah_asked asked_3[] = {
    {SOLAH_READING, 4, 0},
    {SOLAH_READING, 5, 0},
};
static const SOLAH_FLASH SOLAH_NODE offset_3[] = {
    0, 4, 9
};
static const SOLAH_FLASH SOLAH_INPUT split_3[] = {
    0, 1, -1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_FLASH SOLAH_NODE child_3[] = {
    1, 5, 6, 10, 15, 8, 12, 14, 10, 3, 11, 5, 7, 0, 1, 9, 15, 2, 4, 13
};
static const SOLAH_FLASH int16_t peak_3[] = {
    2048, 5120, 14336, 16384, -10365, 17, 5490, 19513, 28665
};
static const SOLAH_FLASH uint16_t inverse_3[] = {
    43690, 58254, 32768, 0, 51711, 49047, 38285, 58661, 0
};
static const SOLAH_FLASH uint8_t shift_3[] = {
    12, 14, 11, 0, 14, 13, 14, 14, 0
};
static const SOLAH_FLASH uint16_t ignorance_3[] = {
    11957, 10554, 522, 9735, 5934, 8336, 4684, 12953, 861
};
static const SOLAH_FLASH int16_t leaf_3[] = {
    -29699, -25894, -23614, -11108, -21276, -8973, -20767, -26144, -15192, -19541, -12045,
    -20056, -10998, -29021, -7399, -13912, -7012, -25402, 3763, -13169, 7376, 13139, 7956, 525,
    9829, -12330, 12384, -9025, 12623, -18826, 17184, -3485
};

static const SOLAH_FLASH solah_walk walks[] = {
    {asked_1, 2, {peak_1, inverse_1, shift_1, ignorance_1, offset_1}, split_1, child_1, leaf_1},
    {asked_2, 2, {peak_2, inverse_2, shift_2, ignorance_2, offset_2}, split_2, child_2, leaf_2},
    {asked_3, 2, {peak_3, inverse_3, shift_3, ignorance_3, offset_3}, split_3, child_3, leaf_3},
};

static const SOLAH_FLASH int32_t start_1[] = {
    -2761, -5356
};

static const SOLAH_FLASH solah_stage stages[] = {
    {start_1, 1, 12, 0, 0, 0, 0, 0, 3}, /* y */
};

static solah_model model = {NULL, NULL, NULL, NULL, NULL, walks, stages, NULL};

/* The rules of knots, of states and of nodes of trees. */
static const SOLAH_FLASH uint16_t of_nodes[] = {
    0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11, 0, 0, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    21, 0, 0, 27, 0, 0, 22, 23, 24, 25, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37
};
static const SOLAH_FLASH uint16_t first_node[] = {
    0, 14, 28
};
static const SOLAH_FLASH solah_rules rules = {NULL, NULL, of_nodes, first_node};

int sample_decide(const int32_t readings[SAMPLE_N_READINGS], uint16_t belief[SAMPLE_N_CLASSES])
{
    return solah_decide(&model, readings, belief);
}

int sample_why(const int32_t readings[SAMPLE_N_READINGS], sample_reason *reasons, int n_most)
{
    return solah_why(&model, &rules, readings, reasons, n_most);
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

const char *sample_rule_text(int rule)
{
    static const char *const texts[] = {
        "if x0 is low then y c2 (0.58)",
        "if x0 is low-or-medium and x1 is low then y c2 (0.64)",
        "if x0 is low-or-medium and x1 is low-or-medium then y c1 (0.71)",
        "if x0 is low-or-medium and x1 is medium then y c2 (0.51)",
        "if x0 is low-or-medium and x1 is medium-or-high then y c1 (0.47)",
        "if x0 is low-or-medium and x1 is high then y c1 (0.60)",
        "if x0 is medium and x1 is low then y c1 (0.53)",
        "if x0 is medium and x1 is low-or-medium then y c1 (0.58)",
        "if x0 is medium and x1 is medium then y c1 (0.55)",
        "if x0 is medium and x1 is medium-or-high then y c0 (0.74)",
        "if x0 is medium and x1 is high then y c1 (0.77)",
        "if x2 is a then y c0 (0.63)",
        "if x2 is b and x3 is low then y c0 (0.46)",
        "if x2 is b and x3 is low-or-medium then y c1 (0.57)",
        "if x2 is b and x3 is medium then y c0 (0.56)",
        "if x2 is b and x3 is medium-or-high then y c2 (0.52)",
        "if x2 is b and x3 is high then y c0 (0.66)",
        "if x2 is c and x3 is low then y c0 (0.50)",
        "if x2 is c and x3 is low-or-medium then y c0 (0.61)",
        "if x2 is c and x3 is medium then y c2 (0.59)",
        "if x2 is c and x3 is medium-or-high then y c1 (0.75)",
        "if x2 is c and x3 is high then y c2 (0.43)",
        "if x4 is 1.0 and x5 is low then y c0 (0.56)",
        "if x4 is 1.0 and x5 is low-or-medium then y c1 (0.73)",
        "if x4 is 1.0 and x5 is medium then y c1 (0.85)",
        "if x4 is 1.0 and x5 is medium-or-high then y c2 (0.88)",
        "if x4 is 1.0 and x5 is high then y c0 (0.79)",
        "if x4 is 2.5 then y c0 (0.68)",
        "if x4 is 7.0 and x5 is low then y c2 (0.55)",
        "if x4 is 7.0 and x5 is low-or-medium then y c0 (0.59)",
        "if x4 is 7.0 and x5 is medium then y c0 (0.40)",
        "if x4 is 7.0 and x5 is medium-or-high then y c0 (0.82)",
        "if x4 is 7.0 and x5 is high then y c2 (0.57)",
        "if x4 is 8.0 and x5 is low then y c1 (0.55)",
        "if x4 is 8.0 and x5 is low-or-medium then y c1 (0.76)",
        "if x4 is 8.0 and x5 is medium then y c2 (0.63)",
        "if x4 is 8.0 and x5 is medium-or-high then y c0 (0.61)",
        "if x4 is 8.0 and x5 is high then y c1 (0.74)",
    };
    return (rule >= 0 && rule < SAMPLE_N_RULES) ? texts[rule] : "";
}
