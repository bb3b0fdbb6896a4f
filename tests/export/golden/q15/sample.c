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

static const SOLAH_FLASH char *solah_find_class_name(int place)
{
    static const SOLAH_FLASH char text_0[] = "c0";
    static const SOLAH_FLASH char text_1[] = "c1";
    static const SOLAH_FLASH char text_2[] = "c2";
    static const SOLAH_FLASH char none[] = "";
    static const SOLAH_FLASH char *const SOLAH_FLASH texts[] = {
        text_0,
        text_1,
        text_2,
        none,
    };
    return texts[(place >= 0 && place < 3) ? place : 3];
}

size_t sample_copy_class_name(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_class_name(place), text, size);
}

#ifndef __AVR__
const char *sample_class_name(int place) { return solah_find_class_name(place); }
#endif

static const SOLAH_FLASH char *solah_find_rule_text(int place)
{
    static const SOLAH_FLASH char text_0[] = "if x0 is low then y c2 (0.58)";
    static const SOLAH_FLASH char text_1[] = "if x0 is low-or-medium and x1 is low then y c2 (0.64)";
    static const SOLAH_FLASH char text_2[] = "if x0 is low-or-medium and x1 is low-or-medium then y c1 (0.71)";
    static const SOLAH_FLASH char text_3[] = "if x0 is low-or-medium and x1 is medium then y c2 (0.51)";
    static const SOLAH_FLASH char text_4[] = "if x0 is low-or-medium and x1 is medium-or-high then y c1 (0.47)";
    static const SOLAH_FLASH char text_5[] = "if x0 is low-or-medium and x1 is high then y c1 (0.60)";
    static const SOLAH_FLASH char text_6[] = "if x0 is medium and x1 is low then y c1 (0.53)";
    static const SOLAH_FLASH char text_7[] = "if x0 is medium and x1 is low-or-medium then y c1 (0.58)";
    static const SOLAH_FLASH char text_8[] = "if x0 is medium and x1 is medium then y c1 (0.55)";
    static const SOLAH_FLASH char text_9[] = "if x0 is medium and x1 is medium-or-high then y c0 (0.74)";
    static const SOLAH_FLASH char text_10[] = "if x0 is medium and x1 is high then y c1 (0.77)";
    static const SOLAH_FLASH char text_11[] = "if x2 is a then y c0 (0.63)";
    static const SOLAH_FLASH char text_12[] = "if x2 is b and x3 is low then y c0 (0.46)";
    static const SOLAH_FLASH char text_13[] = "if x2 is b and x3 is low-or-medium then y c1 (0.57)";
    static const SOLAH_FLASH char text_14[] = "if x2 is b and x3 is medium then y c0 (0.56)";
    static const SOLAH_FLASH char text_15[] = "if x2 is b and x3 is medium-or-high then y c2 (0.52)";
    static const SOLAH_FLASH char text_16[] = "if x2 is b and x3 is high then y c0 (0.66)";
    static const SOLAH_FLASH char text_17[] = "if x2 is c and x3 is low then y c0 (0.50)";
    static const SOLAH_FLASH char text_18[] = "if x2 is c and x3 is low-or-medium then y c0 (0.61)";
    static const SOLAH_FLASH char text_19[] = "if x2 is c and x3 is medium then y c2 (0.59)";
    static const SOLAH_FLASH char text_20[] = "if x2 is c and x3 is medium-or-high then y c1 (0.75)";
    static const SOLAH_FLASH char text_21[] = "if x2 is c and x3 is high then y c2 (0.43)";
    static const SOLAH_FLASH char text_22[] = "if x4 is 1.0 and x5 is low then y c0 (0.56)";
    static const SOLAH_FLASH char text_23[] = "if x4 is 1.0 and x5 is low-or-medium then y c1 (0.73)";
    static const SOLAH_FLASH char text_24[] = "if x4 is 1.0 and x5 is medium then y c1 (0.85)";
    static const SOLAH_FLASH char text_25[] = "if x4 is 1.0 and x5 is medium-or-high then y c2 (0.88)";
    static const SOLAH_FLASH char text_26[] = "if x4 is 1.0 and x5 is high then y c0 (0.79)";
    static const SOLAH_FLASH char text_27[] = "if x4 is 2.5 then y c0 (0.68)";
    static const SOLAH_FLASH char text_28[] = "if x4 is 7.0 and x5 is low then y c2 (0.55)";
    static const SOLAH_FLASH char text_29[] = "if x4 is 7.0 and x5 is low-or-medium then y c0 (0.59)";
    static const SOLAH_FLASH char text_30[] = "if x4 is 7.0 and x5 is medium then y c0 (0.40)";
    static const SOLAH_FLASH char text_31[] = "if x4 is 7.0 and x5 is medium-or-high then y c0 (0.82)";
    static const SOLAH_FLASH char text_32[] = "if x4 is 7.0 and x5 is high then y c2 (0.57)";
    static const SOLAH_FLASH char text_33[] = "if x4 is 8.0 and x5 is low then y c1 (0.55)";
    static const SOLAH_FLASH char text_34[] = "if x4 is 8.0 and x5 is low-or-medium then y c1 (0.76)";
    static const SOLAH_FLASH char text_35[] = "if x4 is 8.0 and x5 is medium then y c2 (0.63)";
    static const SOLAH_FLASH char text_36[] = "if x4 is 8.0 and x5 is medium-or-high then y c0 (0.61)";
    static const SOLAH_FLASH char text_37[] = "if x4 is 8.0 and x5 is high then y c1 (0.74)";
    static const SOLAH_FLASH char none[] = "";
    static const SOLAH_FLASH char *const SOLAH_FLASH texts[] = {
        text_0,
        text_1,
        text_2,
        text_3,
        text_4,
        text_5,
        text_6,
        text_7,
        text_8,
        text_9,
        text_10,
        text_11,
        text_12,
        text_13,
        text_14,
        text_15,
        text_16,
        text_17,
        text_18,
        text_19,
        text_20,
        text_21,
        text_22,
        text_23,
        text_24,
        text_25,
        text_26,
        text_27,
        text_28,
        text_29,
        text_30,
        text_31,
        text_32,
        text_33,
        text_34,
        text_35,
        text_36,
        text_37,
        none,
    };
    return texts[(place >= 0 && place < 38) ? place : 38];
}

size_t sample_copy_rule_text(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_rule_text(place), text, size);
}

#ifndef __AVR__
const char *sample_rule_text(int place) { return solah_find_rule_text(place); }
#endif
