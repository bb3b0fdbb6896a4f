/* How a blob is laid out, and how it is seen once it is opened; solah_blob.h includes it. */
#ifndef SOLAH_BLOB_FORMAT_H
#define SOLAH_BLOB_FORMAT_H

/* The parts of a blob, in the order of their places in the header. */
enum {
    SOLAH_BLOB_ZEROS,
    SOLAH_BLOB_BITS,
    SOLAH_BLOB_KNOTS,
    SOLAH_BLOB_VALUES,
    SOLAH_BLOB_CURVES,
    SOLAH_BLOB_TABLES,
    SOLAH_BLOB_GRIDS,
    SOLAH_BLOB_LINES,
    SOLAH_BLOB_TREES,
    SOLAH_BLOB_ASKED,
    SOLAH_BLOB_OFFSETS,
    SOLAH_BLOB_PEAKS,
    SOLAH_BLOB_INVERSES,
    SOLAH_BLOB_SHIFTS,
    SOLAH_BLOB_IGNORANCE,
    SOLAH_BLOB_SPLITS,
    SOLAH_BLOB_CHILDREN,
    SOLAH_BLOB_LEAVES,
    SOLAH_BLOB_STAGES,
    SOLAH_BLOB_STARTS,
    SOLAH_BLOB_LOST,
    SOLAH_BLOB_PRIORS,
    SOLAH_BLOB_PREFERENCE,
    SOLAH_BLOB_OF_KNOTS,
    SOLAH_BLOB_OF_STATES,
    SOLAH_BLOB_OF_GRIDS,
    SOLAH_BLOB_OF_NODES,
    SOLAH_BLOB_FIRST_NODE,
    SOLAH_BLOB_NAMES,
    SOLAH_BLOB_CATEGORIES,
    SOLAH_BLOB_BOUNDS,
    SOLAH_BLOB_POLICY,
    SOLAH_BLOB_CELLS,
    SOLAH_BLOB_CUTS,
    SOLAH_BLOB_PAIRS,
    SOLAH_BLOB_SEEN,
    SOLAH_BLOB_MIN_BELIEF,
    SOLAH_BLOB_SHARES,
    SOLAH_BLOB_WINDOWS,
    SOLAH_BLOB_MEASURED,
    SOLAH_BLOB_STORED,
    SOLAH_BLOB_AXES,
    SOLAH_BLOB_FEATURES,
    SOLAH_BLOB_WAVES,
    SOLAH_BLOB_N_SECTIONS
};

#define SOLAH_BLOB_VERSION 5
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

/* A compiler that lays records out in another way does not get past here. */
typedef char solah_blob_layout_is_known[(sizeof(solah_blob_header) == 212 &&
                                         sizeof(solah_curve) == 6 && sizeof(solah_table) == 4 &&
                                         sizeof(solah_grid) == 20 && sizeof(solah_asked) == 3 && sizeof(solah_blob_tree) == 8 &&
                                         sizeof(solah_blob_stage) == 22 &&
                                         sizeof(solah_blob_policy) == 12 &&
                                         sizeof(solah_cells) == 12 && sizeof(solah_seen) == 4 &&
                                         sizeof(solah_known) == 4)
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

static inline uint32_t solah_blob_count(const solah_blob_header *header, int section)
{
    return header->sections[section].count;
}

#endif
