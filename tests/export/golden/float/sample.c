/* y: the tables of a solah model; see sample.h. */
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
#include "solah_float.h"

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
static const SOLAH_FLASH float peak_1[] = {
    -1.0891653f, -0.6296781f, 1.2778909f, -2.7503936f, -1.19407f, -0.025412036f, 0.76810503f,
    2.3872766f
};
static const SOLAH_FLASH float ignorance_1[] = {
    0.6315393f, 0.17496984f, 0.19349085f, 0.026538812f, 0.1902191f, 0.09529755f, 0.1419558f,
    0.54598874f
};
static const SOLAH_FLASH float leaf_1[] = {
    -3.0446448f, 2.1933954f, -2.1267183f, 0.08657985f, 0.03336326f, 0.23357692f, 0.21358082f,
    1.071332f, 0.4712841f, 1.0325961f, 1.0380137f, 0.41024905f, 1.2221675f, 3.376144f,
    1.273648f, 1.7929083f, 1.6037912f, 3.547212f, 2.450423f, 4.765321f, 2.5774841f, 4.154415f
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
static const SOLAH_FLASH float peak_2[] = {
    0.0f, 1.0f, 2.0f, -1.4953781f, -0.32116976f, 0.3772344f, 0.866408f, 2.8122737f
};
static const SOLAH_FLASH float ignorance_2[] = {
    0.22964214f, 0.18519159f, 0.5851663f, 0.37837714f, 0.29044867f, 0.04884714f, 0.27502632f,
    0.0073007382f
};
static const SOLAH_FLASH float leaf_2[] = {
    -1.8832473f, 0.01249025f, -1.303498f, 0.44722778f, -0.93881226f, -0.63408524f,
    -0.62764484f, -1.5003139f, -0.47036886f, -0.5338395f, -0.31353343f, 0.84890926f,
    0.10319841f, -0.35543284f, 0.19896083f, 1.453653f, 0.76783043f, -1.3025118f, 0.83059096f,
    2.0936317f, 2.656242f, 1.4797581f
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
static const SOLAH_FLASH float peak_3[] = {
    1.0f, 2.5f, 7.0f, 8.0f, -1.2652609f, 0.002032942f, 0.67020833f, 2.3819952f, 3.4990876f
};
static const SOLAH_FLASH float ignorance_3[] = {
    0.3649002f, 0.3220837f, 0.015941782f, 0.2970743f, 0.1811025f, 0.25438863f, 0.14293139f,
    0.39531034f, 0.026267141f
};
static const SOLAH_FLASH float leaf_3[] = {
    -7.2507463f, -6.321656f, -5.765016f, -2.7118945f, -5.194272f, -2.1907265f, -5.070066f,
    -6.3827205f, -3.7089427f, -4.7706695f, -2.94059f, -4.896422f, -2.685122f, -7.085085f,
    -1.8063679f, -3.3964462f, -1.7118272f, -6.201689f, 0.91865766f, -3.215008f, 1.8007478f,
    3.2076719f, 1.9423182f, 0.12813279f, 2.3996456f, -3.010273f, 3.0233734f, -2.2032905f,
    3.081729f, -4.59625f, 4.195286f, -0.8508309f
};

static const SOLAH_FLASH solah_walk walks[] = {
    {asked_1, 2, {peak_1, ignorance_1, offset_1}, {split_1, child_1}, leaf_1},
    {asked_2, 2, {peak_2, ignorance_2, offset_2}, {split_2, child_2}, leaf_2},
    {asked_3, 2, {peak_3, ignorance_3, offset_3}, {split_3, child_3}, leaf_3},
};

static const SOLAH_FLASH float start_1[] = {
    -0.6741206f, -1.307561f
};

static const SOLAH_FLASH solah_stage stages[] = {
    {start_1, 1, 0, 0, 0, 0, 0, 0, 3}, /* y */
};

static solah_model model = {NULL, NULL, NULL, NULL, walks, stages, NULL};

/* The rules of knots, of states and of nodes of trees. */
static const SOLAH_FLASH uint16_t of_nodes[] = {
    0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11, 0, 0, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    21, 0, 0, 27, 0, 0, 22, 23, 24, 25, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37
};
static const SOLAH_FLASH uint16_t first_node[] = {
    0, 14, 28
};
static const SOLAH_FLASH solah_rules rules = {NULL, NULL, of_nodes, first_node};

int sample_decide(const float readings[SAMPLE_N_READINGS], float belief[SAMPLE_N_CLASSES])
{
    return solah_decide(&model, readings, belief);
}

int sample_why(const float readings[SAMPLE_N_READINGS], sample_reason *reasons, int n_most)
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
