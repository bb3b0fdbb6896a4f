/* The layout of a blob, and the view of an opened one; solah_blob.h includes it. */
#ifndef SOLAH_BLOB_FORMAT_H
#define SOLAH_BLOB_FORMAT_H

/* The sections of a blob, in the order of their places in the header: the name, and what a line is. */
#define SOLAH_BLOB_SECTIONS(section) \
    section(ZEROS, int32_t) \
    section(BITS, int16_t) \
    section(KNOTS, int16_t) \
    section(VALUES, int16_t) \
    section(CURVES, solah_curve) \
    section(TABLES, solah_table) \
    section(GRIDS, solah_grid) \
    section(LINES, uint8_t) \
    section(TREES, solah_blob_tree) \
    section(ASKED, solah_asked) \
    section(OFFSETS, uint16_t) \
    section(PEAKS, int16_t) \
    section(INVERSES, uint16_t) \
    section(SHIFTS, uint8_t) \
    section(MEAN_MASSES, uint16_t) \
    section(SPLITS, int8_t) \
    section(CHILDREN, uint16_t) \
    section(LEAVES, int16_t) \
    section(STAGES, solah_blob_stage) \
    section(STARTS, int32_t) \
    section(LOST, uint16_t) \
    section(PRIORS, int32_t) \
    section(PREFERENCE, int32_t) \
    section(OF_KNOTS, uint16_t) \
    section(OF_STATES, uint16_t) \
    section(OF_GRIDS, uint16_t) \
    section(OF_NODES, uint16_t) \
    section(FIRST_NODE, uint16_t) \
    section(NAMES, uint8_t) \
    section(CATEGORIES, uint16_t) \
    section(BOUNDS, solah_blob_bounds) \
    section(POLICY, solah_blob_policy) \
    section(CELLS, solah_cells) \
    section(CUTS, int32_t) \
    section(PAIRS, solah_seen) \
    section(SEEN, uint8_t) \
    section(MIN_PROBABILITY, uint16_t) \
    section(SHARES, solah_known) \
    section(WINDOWS, solah_blob_windows) \
    section(MEASURED, solah_blob_measured) \
    section(STORED, solah_blob_stored) \
    section(AXES, uint8_t) \
    section(FEATURES, solah_blob_feature) \
    section(WAVES, int16_t)

#define SOLAH_BLOB_NUMBER(name, line) SOLAH_BLOB_##name,
enum { SOLAH_BLOB_SECTIONS(SOLAH_BLOB_NUMBER) SOLAH_BLOB_N_SECTIONS };

#define SOLAH_BLOB_VERSION 6
#define SOLAH_BLOB_BYTE_MARK 0xFEFF
#define SOLAH_BLOB_ARE_NUMBERS 32768u /* added to the number of categories that are numbers */
#define SOLAH_BLOB_NO_BITS INT16_MIN /* the bits of a code, which is taken as it is */
#define SOLAH_BLOB_MOST_SCORE 65536  /* the largest score of a part of a stage for a class */
#define SOLAH_BLOB_MOST_TOTAL 536870912

typedef struct {
    uint16_t place; /* in units of four bytes */
    uint16_t count;
} solah_blob_section;

typedef struct {
    uint8_t magic[4];
    uint16_t version;
    uint16_t byte_mark;
    uint32_t size;
    uint32_t checksum; /* of what follows */
    uint8_t hash[8];
    uint8_t inputs[8]; /* the hash of features and categories */
    uint8_t n_classes;
    uint8_t nothing;
    uint16_t n_rules;
    solah_blob_section sections[SOLAH_BLOB_N_SECTIONS];
} solah_blob_header;

typedef struct {
    uint8_t n_asked;
    uint8_t nothing;
    uint16_t n_sets, n_nodes, n_leaves;
} solah_blob_tree;

typedef struct {
    uint8_t is_weighed;
    int8_t value_bits;
    uint8_t factor_shift;
    uint8_t loses;
    uint16_t factor;
    uint16_t first_curve, n_curves;
    uint16_t first_table, n_tables;
    uint16_t first_grid, n_grids;
    uint16_t first_walk, n_walks;
} solah_blob_stage;

typedef struct {
    uint16_t min_completeness, hysteresis, min_hold;
    uint8_t holds_back, most_unseen, smoothing_bits, votes, window, nothing;
} solah_blob_policy;

typedef struct {
    uint32_t window, step;
} solah_blob_windows;

typedef struct {
    uint8_t doubles[16]; /* of a category that is a number; C looks up names only */
} solah_blob_bounds;

#if SOLAH_BLOB_MAX_SAMPLES > 0
typedef solah_measured solah_blob_measured;
typedef solah_stored solah_blob_stored;
typedef solah_feature solah_blob_feature;
#else /* how large they are */
typedef uint32_t solah_blob_measured[4];
typedef uint32_t solah_blob_stored[2];
typedef uint32_t solah_blob_feature[5];
#endif

/* A compiler that lays records out in another way does not get past here. */
typedef char solah_blob_layout_is_known[(sizeof(solah_blob_header) == 212 &&
                                         sizeof(solah_curve) == 6 && sizeof(solah_table) == 4 &&
                                         sizeof(solah_grid) == 20 && sizeof(solah_asked) == 3 &&
                                         sizeof(solah_blob_tree) == 8 &&
                                         sizeof(solah_blob_stage) == 22 &&
                                         sizeof(solah_blob_policy) == 12 &&
                                         sizeof(solah_cells) == 12 && sizeof(solah_seen) == 4 &&
                                         sizeof(solah_known) == 4 &&
                                         sizeof(solah_blob_measured) == 16 &&
                                         sizeof(solah_blob_stored) == 8 &&
                                         sizeof(solah_blob_feature) == 20)
                                            ? 1
                                            : -1];

/* A blob that was opened. It points into the bytes and into itself: open another, never copy it. */
typedef struct {
    struct solah_tables tables;
    solah_rules rules;
    const solah_blob_header *header; /* NULL where nothing was opened */
    const int16_t *bits;
    const uint8_t *names;
    const uint16_t *categories; /* how many a feature has */
    uint8_t n_readings;
    solah_policy policy;
#if SOLAH_BLOB_MAX_SAMPLES > 0
    solah_way way;
#endif
    solah_stage stages[SOLAH_BLOB_MAX_STAGES];
    solah_walk walks[SOLAH_BLOB_MAX_WALKS > 0 ? SOLAH_BLOB_MAX_WALKS : 1];
} solah_blob;

static inline const void *solah_blob_at(const solah_blob_header *header, int section)
{
    return (const uint8_t *)header + 4u * (size_t)header->sections[section].place;
}

/* SOLAH_BLOB_AT(header, KNOTS) points to the lines of a section, as what they are. */
#define SOLAH_BLOB_LINE_TYPE(name, line) typedef line solah_blob_line_##name;
SOLAH_BLOB_SECTIONS(SOLAH_BLOB_LINE_TYPE)
#define SOLAH_BLOB_AT(header, name) \
    ((const solah_blob_line_##name *)solah_blob_at(header, SOLAH_BLOB_##name))

static inline uint32_t solah_blob_count(const solah_blob_header *header, int section)
{
    return header->sections[section].count;
}

#endif
