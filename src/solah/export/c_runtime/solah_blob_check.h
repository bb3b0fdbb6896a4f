/* Whether all places, trees and numbers of a blob are such that decisions stay within bounds, whatever
 * the readings; on the way, everything is pointed to. solah_blob.h includes it. */
#ifndef SOLAH_BLOB_CHECK_H
#define SOLAH_BLOB_CHECK_H

#include "solah_blob_format.h"

/* Return what a check finds, unless it finds nothing. */
#define SOLAH_BLOB_TRY(check) \
    do { \
        const int found = (check); \
        if (found != SOLAH_BLOB_OK) { \
            return found; \
        } \
    } while (0)

/* Whether a section has `count` lines from a first one on. */
#define SOLAH_BLOB_HAS(header, name, first, count) \
    ((uint32_t)(first) + (uint32_t)(count) <= solah_blob_count(header, SOLAH_BLOB_##name))

static inline int solah_blob_check_header(const solah_blob_header *header, size_t size)
{
    const size_t unsummed = offsetof(solah_blob_header, hash);

    if (header == NULL || size < sizeof *header) {
        return SOLAH_BLOB_TOO_SHORT;
    }
    if (((uintptr_t)header & 3u) != 0u) {
        return SOLAH_BLOB_ALIGNMENT;
    }
    if (header->magic[0] != 'S' || header->magic[1] != 'L' || header->magic[2] != 'H' ||
        header->magic[3] != 'B') {
        return SOLAH_BLOB_MAGIC;
    }
    if (header->byte_mark != SOLAH_BLOB_BYTE_MARK) {
        return SOLAH_BLOB_BYTE_ORDER;
    }
    if (header->version != SOLAH_BLOB_VERSION) {
        return SOLAH_BLOB_OTHER_VERSION;
    }
    if (header->size < sizeof *header || header->size > size) {
        return SOLAH_BLOB_TOO_SHORT;
    }
    if (header->checksum !=
        solah_crc(0u, (const uint8_t *)header + unsummed, (size_t)header->size - unsummed)) {
        return SOLAH_BLOB_CHECKSUM;
    }
    return SOLAH_BLOB_OK;
}

static inline int solah_blob_check_sections(const solah_blob_header *header)
{
#define SOLAH_BLOB_LINE_BYTES(name, line) sizeof(line),
    static const uint8_t line_bytes[] = {SOLAH_BLOB_SECTIONS(SOLAH_BLOB_LINE_BYTES)};
    for (int s = 0; s < SOLAH_BLOB_N_SECTIONS; s++) {
        const uint32_t first = 4u * (uint32_t)header->sections[s].place;
        if (first + line_bytes[s] * solah_blob_count(header, s) > header->size) {
            return SOLAH_BLOB_PLACE;
        }
    }
    return SOLAH_BLOB_OK;
}

/* How many there are of everything, and whether it is as many as there must be. */
static inline int solah_blob_check_counts(const solah_blob_header *header)
{
    const uint32_t n_readings = solah_blob_count(header, SOLAH_BLOB_BITS);
    const uint32_t n_stages = solah_blob_count(header, SOLAH_BLOB_STAGES);
    const uint32_t n_classes = header->n_classes;
    const uint32_t n_values = n_classes == 1u ? 1u : n_classes - 1u;
    const uint32_t n_zeros = solah_blob_count(header, SOLAH_BLOB_ZEROS);
    const uint32_t n_preferred = solah_blob_count(header, SOLAH_BLOB_PREFERENCE);

    if (n_classes > SOLAH_BLOB_MAX_CLASSES || n_stages > SOLAH_BLOB_MAX_STAGES ||
        solah_blob_count(header, SOLAH_BLOB_TREES) > SOLAH_BLOB_MAX_WALKS) {
        return SOLAH_BLOB_TOO_LARGE;
    }
    if (n_classes == 0u || n_stages == 0u || n_readings == 0u || n_readings > 255u ||
        (n_zeros != 0u && n_zeros != n_readings) ||
        (n_preferred != 0u && (n_preferred != n_classes || n_classes == 1u)) ||
        (n_classes == 1u && n_stages != 1u) ||
        solah_blob_count(header, SOLAH_BLOB_CATEGORIES) != n_readings ||
        solah_blob_count(header, SOLAH_BLOB_STARTS) != n_stages * n_values) {
        return SOLAH_BLOB_PLACE;
    }
    return SOLAH_BLOB_OK;
}

/* Point to everything but trees, stages, the policy and signals. */
static inline void solah_blob_point(solah_blob *blob, const solah_blob_header *header)
{
    struct solah_tables *tables = &blob->tables;
    tables->n_classes = header->n_classes;
    tables->n_values = (uint8_t)(header->n_classes == 1u ? 1u : header->n_classes - 1u);
    tables->n_stages = (uint8_t)solah_blob_count(header, SOLAH_BLOB_STAGES);
    tables->zero = SOLAH_BLOB_AT(header, ZEROS);
    tables->knots = SOLAH_BLOB_AT(header, KNOTS);
    tables->values = SOLAH_BLOB_AT(header, VALUES);
    tables->curves = SOLAH_BLOB_AT(header, CURVES);
    tables->tables = SOLAH_BLOB_AT(header, TABLES);
    tables->grids = SOLAH_BLOB_AT(header, GRIDS);
    tables->cells = SOLAH_BLOB_AT(header, LINES);
    tables->preference = SOLAH_BLOB_AT(header, PREFERENCE);
    tables->walks = blob->walks;
    tables->stages = blob->stages;
    if (solah_blob_count(header, SOLAH_BLOB_ZEROS) == 0u) {
        tables->zero = NULL;
    }
    if (solah_blob_count(header, SOLAH_BLOB_PREFERENCE) == 0u) {
        tables->preference = NULL;
    }
    blob->rules.of_knots = SOLAH_BLOB_AT(header, OF_KNOTS);
    blob->rules.of_states = SOLAH_BLOB_AT(header, OF_STATES);
    blob->rules.of_grids = SOLAH_BLOB_AT(header, OF_GRIDS);
    blob->rules.of_nodes = SOLAH_BLOB_AT(header, OF_NODES);
    blob->rules.first_node = SOLAH_BLOB_AT(header, FIRST_NODE);
    blob->bits = SOLAH_BLOB_AT(header, BITS);
    blob->names = SOLAH_BLOB_AT(header, NAMES);
    blob->categories = SOLAH_BLOB_AT(header, CATEGORIES);
    blob->n_readings = (uint8_t)solah_blob_count(header, SOLAH_BLOB_BITS);
}

/* How many categories come before those of a feature. */
static inline int32_t solah_blob_first_category(const solah_blob *blob, int32_t place)
{
    int32_t first = 0;
    for (int32_t i = 0; i < place; i++) {
        first += (int32_t)(blob->categories[i] & ~SOLAH_BLOB_ARE_NUMBERS);
    }
    return first;
}

/* How many names there are of all readings, and of the classes, which a number has none of; those of
 * categories come behind. */
static inline int32_t solah_blob_n_names(const solah_blob *blob)
{
    const int32_t n_classes = (int32_t)blob->tables.n_classes;
    return (int32_t)blob->n_readings + (n_classes > 1 ? n_classes : 0);
}

/* How many names there are before those of the channels of samples. */
static inline int32_t solah_blob_first_channel(const solah_blob *blob)
{
    return solah_blob_n_names(blob) + solah_blob_first_category(blob, (int32_t)blob->n_readings);
}

/* A name is its length in two bytes, the name and a zero. */
static inline uint32_t solah_blob_name_length(const uint8_t *name)
{
    return (uint32_t)name[0] | (uint32_t)name[1] << 8;
}

static inline int solah_blob_check_names(const solah_blob *blob, const solah_blob_header *header)
{
    const uint32_t size = solah_blob_count(header, SOLAH_BLOB_NAMES);
    const int32_t n_names =
        solah_blob_first_channel(blob) + (int32_t)solah_blob_count(header, SOLAH_BLOB_MEASURED);
    uint32_t at = 0;
    for (int32_t i = 0; i < n_names; i++) {
        if (at + 3u > size) {
            return SOLAH_BLOB_PLACE;
        }
        at += 3u + solah_blob_name_length(blob->names + at);
        if (at > size || blob->names[at - 1u] != 0u) {
            return SOLAH_BLOB_PLACE;
        }
    }
    return SOLAH_BLOB_OK;
}

static inline int solah_blob_is_within(int32_t number, int32_t least, int32_t most)
{
    return number >= least && number <= most;
}

static inline int solah_blob_check_numbers(const solah_blob *blob)
{
    const int is_weighed = blob->stages[blob->tables.n_stages - 1u].is_weighed != 0u;
    const int32_t large = (int32_t)1 << 30; /* so that 16 bits can be added */
    const struct solah_tables *tables = &blob->tables;

    for (int32_t i = 0; i < (int32_t)blob->n_readings; i++) {
        if ((blob->bits[i] != SOLAH_BLOB_NO_BITS &&
             !solah_blob_is_within(blob->bits[i], -1023, 1023)) ||
            (tables->zero != NULL && !solah_blob_is_within(tables->zero[i], -large, large))) {
            return SOLAH_BLOB_NUMBERS;
        }
    }
    for (int32_t c = 0; tables->preference != NULL && c < (int32_t)tables->n_classes; c++) {
        if (!solah_blob_is_within(tables->preference[c], is_weighed ? -large : 0,
                                  is_weighed ? large : INT16_MAX)) {
            return SOLAH_BLOB_NUMBERS;
        }
    }
    return SOLAH_BLOB_OK;
}

/* Whether a piece of a curve has a length, and its scores at both ends are not too large. Between
 * them they are smaller. A way of 16 bits times a signed slope of 16 bits, and a value, have 32. */
static inline int solah_blob_is_piece(int32_t way, const int16_t *piece, int32_t n_values)
{
    const int32_t most = SOLAH_BLOB_MOST_SCORE;
    if (way <= 0 || !solah_blob_is_within(piece[0], 0, 31)) {
        return 0;
    }
    for (int32_t v = 1; v <= n_values; v++) {
        const int32_t rise = solah_shift(way * piece[n_values + v], piece[0]);
        if (!solah_blob_is_within(piece[v] + rise, -most, most)) {
            return 0;
        }
    }
    return 1;
}

static inline int solah_blob_check_curve(const solah_blob *blob, const solah_blob_header *header,
                                         const solah_curve *curve)
{
    const uint32_t n_values = blob->tables.n_values;
    const uint32_t width = 2u * n_values + 1u;
    const uint32_t last = (uint32_t)curve->n_knots - 1u;

    if (curve->feature >= blob->n_readings || curve->n_knots < 2u ||
        !SOLAH_BLOB_HAS(header, KNOTS, curve->knot, curve->n_knots) ||
        !SOLAH_BLOB_HAS(header, VALUES, curve->value, last * width + n_values)) {
        return SOLAH_BLOB_PLACE;
    }
    const int16_t *knot = blob->tables.knots + curve->knot;
    const int16_t *piece = blob->tables.values + curve->value;
    for (uint32_t k = 0; k < last; k++) {
        const int32_t way = (int32_t)knot[k + 1u] - (int32_t)knot[k];
        if (!solah_blob_is_piece(way, piece + k * width, (int32_t)n_values)) {
            return SOLAH_BLOB_NUMBERS;
        }
    }
    return SOLAH_BLOB_OK;
}

static inline int solah_blob_check_curves(const solah_blob *blob, const solah_blob_header *header)
{
    for (uint32_t i = 0; i < solah_blob_count(header, SOLAH_BLOB_CURVES); i++) {
        SOLAH_BLOB_TRY(solah_blob_check_curve(blob, header, &blob->tables.curves[i]));
    }
    return SOLAH_BLOB_OK;
}

static inline int solah_blob_check_tables(const solah_blob *blob, const solah_blob_header *header)
{
    const uint32_t n_tables = solah_blob_count(header, SOLAH_BLOB_TABLES);
    for (uint32_t i = 0; i < n_tables; i++) {
        const solah_table *table = &blob->tables.tables[i];
        const uint32_t n_lines = (uint32_t)table->n_states + 1u;
        if (table->feature >= blob->n_readings ||
            !SOLAH_BLOB_HAS(header, VALUES, table->value, n_lines * blob->tables.n_values)) {
            return SOLAH_BLOB_PLACE;
        }
    }
    return SOLAH_BLOB_OK;
}

/* Whether the peaks of a grid's side increase, and it has slopes between them. */
static inline int solah_blob_check_side(const solah_blob *blob, const solah_blob_header *header,
                                        const solah_side *side)
{
    const uint32_t n_pieces = (uint32_t)side->n_lines - 1u;

    if (side->feature >= blob->n_readings || side->n_lines == 0u) {
        return SOLAH_BLOB_PLACE;
    }
    if (side->is_state) {
        return SOLAH_BLOB_OK;
    }
    if (!SOLAH_BLOB_HAS(header, KNOTS, side->knot, side->n_lines) ||
        !SOLAH_BLOB_HAS(header, VALUES, side->value, 2u * n_pieces)) {
        return SOLAH_BLOB_PLACE;
    }
    const int16_t *knot = blob->tables.knots + side->knot;
    const int16_t *slope = blob->tables.values + side->value;
    for (uint32_t k = 0; k < n_pieces; k++) {
        if (knot[k] >= knot[k + 1u] || !solah_blob_is_within(slope[2u * k], 0, 31) ||
            slope[2u * k + 1u] < 0) {
            return SOLAH_BLOB_NUMBERS;
        }
    }
    return SOLAH_BLOB_OK;
}

static inline int solah_blob_check_grid(const solah_blob *blob, const solah_blob_header *header,
                                        const solah_grid *grid)
{
    const uint32_t n_cells = ((uint32_t)grid->sides[0].n_lines + 1u) *
                             ((uint32_t)grid->sides[1].n_lines + 1u);

    SOLAH_BLOB_TRY(solah_blob_check_side(blob, header, &grid->sides[0]));
    SOLAH_BLOB_TRY(solah_blob_check_side(blob, header, &grid->sides[1]));
    if (!SOLAH_BLOB_HAS(header, LINES, grid->cell, n_cells)) {
        return SOLAH_BLOB_PLACE;
    }
    for (uint32_t c = 0; c < n_cells; c++) {
        const uint32_t line = blob->tables.cells[grid->cell + c];
        if (!SOLAH_BLOB_HAS(header, VALUES, grid->value, (line + 1u) * blob->tables.n_values)) {
            return SOLAH_BLOB_PLACE;
        }
    }
    return SOLAH_BLOB_OK;
}

static inline int solah_blob_check_grids(const solah_blob *blob, const solah_blob_header *header)
{
    for (uint32_t i = 0; i < solah_blob_count(header, SOLAH_BLOB_GRIDS); i++) {
        SOLAH_BLOB_TRY(solah_blob_check_grid(blob, header, &blob->tables.grids[i]));
    }
    return SOLAH_BLOB_OK;
}

#if SOLAH_BLOB_MAX_WALKS > 0
/* Point to the parts of all trees, which lie end to end. */
static inline int solah_blob_point_to_trees(solah_blob *blob, const solah_blob_header *header)
{
    const solah_blob_tree *tree = SOLAH_BLOB_AT(header, TREES);
    const uint32_t n_trees = solah_blob_count(header, SOLAH_BLOB_TREES);
    uint32_t asked = 0, offset = 0, set = 0, node = 0, leaf = 0;

    for (uint32_t i = 0; i < n_trees; i++, tree++) {
        solah_walk *walk = &blob->walks[i];
        walk->asked = SOLAH_BLOB_AT(header, ASKED) + asked;
        walk->n_asked = tree->n_asked;
        walk->sets.peak = SOLAH_BLOB_AT(header, PEAKS) + set;
        walk->sets.inverse = SOLAH_BLOB_AT(header, INVERSES) + set;
        walk->sets.shift = SOLAH_BLOB_AT(header, SHIFTS) + set;
        walk->sets.mean_masses = SOLAH_BLOB_AT(header, MEAN_MASSES) + set;
        walk->sets.offset = SOLAH_BLOB_AT(header, OFFSETS) + offset;
        walk->split = SOLAH_BLOB_AT(header, SPLITS) + node;
        walk->child = SOLAH_BLOB_AT(header, CHILDREN) + node;
        walk->leaf = SOLAH_BLOB_AT(header, LEAVES) + leaf;
        asked += tree->n_asked;
        offset += tree->n_asked + 1u;
        set += tree->n_sets;
        node += tree->n_nodes;
        leaf += (uint32_t)tree->n_leaves * blob->tables.n_values;
        if (!SOLAH_BLOB_HAS(header, ASKED, asked, 0) || !SOLAH_BLOB_HAS(header, OFFSETS, offset, 0) ||
            !SOLAH_BLOB_HAS(header, PEAKS, set, 0) || !SOLAH_BLOB_HAS(header, INVERSES, set, 0) ||
            !SOLAH_BLOB_HAS(header, SHIFTS, set, 0) || !SOLAH_BLOB_HAS(header, MEAN_MASSES, set, 0) ||
            !SOLAH_BLOB_HAS(header, SPLITS, node, 0) || !SOLAH_BLOB_HAS(header, CHILDREN, node, 0) ||
            !SOLAH_BLOB_HAS(header, LEAVES, leaf, 0)) {
            return SOLAH_BLOB_PLACE;
        }
    }
    return SOLAH_BLOB_OK;
}

/* The source of an input must be there, and its stage must be an earlier one. */
static inline int solah_blob_is_asked(const solah_blob *blob, const solah_asked *asked,
                                      uint32_t n_sets, uint32_t stage)
{
    switch (asked->kind) {
    case SOLAH_READING:
    case SOLAH_STATE:
        return asked->from < blob->n_readings;
    case SOLAH_BELIEF:
        return asked->from < stage && asked->place < blob->tables.n_classes;
    case SOLAH_ALL_BELIEFS:
        return asked->from < stage && n_sets == blob->tables.n_classes;
    default:
        return 0;
    }
}

/* The focal sets of an input: their peaks increase, and what is assumed of no reading is not more
 * than certain. */
static inline int solah_blob_are_sets(const solah_sets *sets, uint32_t first, uint32_t end)
{
    uint32_t sum = 0;
    for (uint32_t k = first; k < end; k++) {
        sum += sets->mean_masses[k];
        if (sets->shift[k] > 31u || (k > first && sets->peak[k] <= sets->peak[k - 1u])) {
            return 0;
        }
    }
    return sum <= SOLAH_ONE;
}

static inline int solah_blob_check_inputs(const solah_blob *blob, const solah_walk *walk,
                                          const solah_blob_tree *tree, uint32_t stage)
{
    if (tree->n_asked > SOLAH_BLOB_MAX_INPUTS) {
        return SOLAH_BLOB_TOO_LARGE;
    }
    if (walk->sets.offset[0] != 0u || walk->sets.offset[tree->n_asked] != tree->n_sets) {
        return SOLAH_BLOB_PLACE;
    }
    for (uint32_t a = 0; a < tree->n_asked; a++) {
        const uint32_t first = walk->sets.offset[a];
        const uint32_t end = walk->sets.offset[a + 1u];
        if (end <= first || end - first > 255u || end > tree->n_sets ||
            !solah_blob_is_asked(blob, &walk->asked[a], end - first, stage)) {
            return SOLAH_BLOB_PLACE;
        }
        if (!solah_blob_are_sets(&walk->sets, first, end)) {
            return SOLAH_BLOB_NUMBERS;
        }
    }
    return SOLAH_BLOB_OK;
}

/* Nodes lie level by level, so that first children follow each other: then every node but the
 * first is the child of one before it, and a level ends where the children of the last one end. */
static inline int solah_blob_check_shape(const solah_walk *walk, const solah_blob_tree *tree)
{
    uint32_t next = 1, end_of_level = 1, depth = 0;

    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        const int32_t split = walk->split[node];
        if (node == next) {
            return SOLAH_BLOB_NOT_A_TREE;
        }
        if (node == end_of_level) {
            depth++;
            end_of_level = next;
        }
        if (split == -1) {
            if (walk->child[node] >= tree->n_leaves) {
                return SOLAH_BLOB_PLACE;
            }
            continue;
        }
        if (!solah_blob_is_within(split, 0, (int32_t)tree->n_asked - 1) ||
            walk->child[node] != next) {
            return SOLAH_BLOB_NOT_A_TREE;
        }
        next += (uint32_t)walk->sets.offset[split + 1] - (uint32_t)walk->sets.offset[split];
    }
    if (depth > SOLAH_BLOB_MAX_DEPTH) {
        return SOLAH_BLOB_TOO_LARGE;
    }
    return next == tree->n_nodes ? SOLAH_BLOB_OK : SOLAH_BLOB_NOT_A_TREE;
}

static inline int solah_blob_check_tree(const solah_blob *blob, const solah_blob_header *header,
                                        uint32_t place, uint32_t stage)
{
    const solah_walk *walk = &blob->walks[place];
    const solah_blob_tree *tree =
        SOLAH_BLOB_AT(header, TREES) + place;
    const uint32_t n_numbers = (uint32_t)tree->n_leaves * blob->tables.n_values;

    SOLAH_BLOB_TRY(solah_blob_check_inputs(blob, walk, tree, stage));
    SOLAH_BLOB_TRY(solah_blob_check_shape(walk, tree));
    /* The scores of a tree that is not weighed are probabilities; a number may be any. */
    for (uint32_t i = 0; i < n_numbers; i++) {
        if (!blob->stages[stage].is_weighed && blob->tables.n_classes > 1u &&
            !solah_blob_is_within(walk->leaf[i], 0, SOLAH_WHOLE)) {
            return SOLAH_BLOB_NUMBERS;
        }
    }
    return SOLAH_BLOB_OK;
}
#endif

static inline uint32_t solah_blob_size(int32_t number)
{
    return (uint32_t)(number < 0 ? -number : number);
}

/* Whether what is lost with the parts of a stage is at most all of its score, and what it goes
 * back to leaves room for it. */
static inline int solah_blob_is_loss(const solah_stage *stage, uint32_t n_parts, uint32_t n_values,
                                     int32_t most)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n_parts; i++) {
        sum += stage->lost[i];
        if (sum > SOLAH_ONE) {
            return 0;
        }
    }
    for (uint32_t v = 0; v < n_values; v++) {
        const int32_t prior = stage->prior[v];
        const int32_t lean = stage->prior[n_values + v];
        if (!solah_blob_is_within(prior, -most, most) || !solah_blob_is_within(lean, -most, most) ||
            solah_blob_size(stage->start[v]) + 2u * solah_blob_size(prior) + solah_blob_size(lean) >
                (uint32_t)most) {
            return 0;
        }
    }
    return stage->factor_shift < 32u;
}

/* Whether what a stage adds up stays within 30 bits, and within 32 where it is given in finer
 * units (see solah_exp). A tree that is not weighed is alone in its stage. */
static inline int solah_blob_is_stage(const solah_stage *stage,
                                      uint32_t n_classes, uint32_t n_values)
{
    const uint32_t n_parts =
        (uint32_t)stage->n_curves + stage->n_tables + stage->n_grids + stage->n_walks;
    int32_t most = SOLAH_BLOB_MOST_TOTAL;

    const int is_evidence = stage->is_weighed && n_classes > 1u;
    if (stage->is_weighed > 1u || (!stage->is_weighed && (n_parts > 1u || stage->n_grids > 0u)) ||
        (stage->lost != NULL && !is_evidence) ||
        (is_evidence && !solah_blob_is_within((int32_t)stage->value_bits, 0, 24)) ||
        (!stage->is_weighed && n_classes > 1u && stage->value_bits != 14)) {
        return 0;
    }
    if (is_evidence && stage->value_bits < 10) {
        most >>= 10 - stage->value_bits;
    }
    if (n_parts > (uint32_t)most / SOLAH_BLOB_MOST_SCORE) {
        return 0;
    }
    most -= (int32_t)n_parts * SOLAH_BLOB_MOST_SCORE;
    for (uint32_t v = 0; v < n_values; v++) {
        if (!solah_blob_is_within(stage->start[v], -most, most)) {
            return 0;
        }
    }
    return stage->lost == NULL || solah_blob_is_loss(stage, n_parts, n_values, most);
}

/* Point to what is lost with the parts of a stage, which lies end to end with that of others. */
static inline int solah_blob_point_to_lost(const solah_blob_header *header,
                                           const solah_blob_stage *row, uint32_t n_values,
                                           uint32_t *n_lost, uint32_t *n_priors, solah_stage *stage)
{
    stage->lost = NULL;
    stage->prior = NULL;
    stage->factor = row->factor;
    stage->factor_shift = row->factor_shift;
    if (row->loses == 0u) {
        return SOLAH_BLOB_OK;
    }
    stage->lost = SOLAH_BLOB_AT(header, LOST) + *n_lost;
    stage->prior = SOLAH_BLOB_AT(header, PRIORS) + *n_priors;
    *n_lost += (uint32_t)row->n_curves + row->n_tables + row->n_grids + row->n_walks;
    *n_priors += 2u * n_values;
    return row->loses > 1u || !SOLAH_BLOB_HAS(header, LOST, *n_lost, 0) ||
                   !SOLAH_BLOB_HAS(header, PRIORS, *n_priors, 0)
               ? SOLAH_BLOB_PLACE
               : SOLAH_BLOB_OK;
}

/* Point to the stages, which take curves, tables, grids and trees one after the other and leave none. */
static inline int solah_blob_check_stages(solah_blob *blob, const solah_blob_header *header)
{
    const solah_blob_stage *row =
        SOLAH_BLOB_AT(header, STAGES);
    const int32_t *start = SOLAH_BLOB_AT(header, STARTS);
    const uint32_t n_values = blob->tables.n_values;
    uint32_t n_curves = 0, n_tables = 0, n_grids = 0, n_walks = 0, n_lost = 0, n_priors = 0;

    for (uint32_t s = 0; s < blob->tables.n_stages; s++, row++) {
        solah_stage *stage = &blob->stages[s];
        stage->start = start + s * n_values;
        stage->is_weighed = row->is_weighed;
        stage->value_bits = row->value_bits;
        stage->first_curve = row->first_curve;
        stage->n_curves = row->n_curves;
        stage->first_table = row->first_table;
        stage->n_tables = row->n_tables;
        stage->first_grid = row->first_grid;
        stage->n_grids = row->n_grids;
        stage->first_walk = row->first_walk;
        stage->n_walks = row->n_walks;
        if (row->first_curve != n_curves || row->first_table != n_tables ||
            row->first_grid != n_grids || row->first_walk != n_walks) {
            return SOLAH_BLOB_PLACE;
        }
        SOLAH_BLOB_TRY(solah_blob_point_to_lost(header, row, n_values, &n_lost, &n_priors, stage));
        if (!solah_blob_is_stage(stage, blob->tables.n_classes, n_values)) {
            return SOLAH_BLOB_NUMBERS;
        }
        n_curves += row->n_curves;
        n_tables += row->n_tables;
        n_grids += row->n_grids;
        n_walks += row->n_walks;
    }
    return n_curves == solah_blob_count(header, SOLAH_BLOB_CURVES) &&
                   n_tables == solah_blob_count(header, SOLAH_BLOB_TABLES) &&
                   n_grids == solah_blob_count(header, SOLAH_BLOB_GRIDS) &&
                   n_walks == solah_blob_count(header, SOLAH_BLOB_TREES)
               ? SOLAH_BLOB_OK
               : SOLAH_BLOB_PLACE;
}

static inline int solah_blob_check_trees(solah_blob *blob, const solah_blob_header *header)
{
#if SOLAH_BLOB_MAX_WALKS > 0
    SOLAH_BLOB_TRY(solah_blob_point_to_trees(blob, header));
    for (uint32_t s = 0; s < blob->tables.n_stages; s++) {
        const uint32_t first = blob->stages[s].first_walk;
        for (uint32_t i = first; i < first + blob->stages[s].n_walks; i++) {
            SOLAH_BLOB_TRY(solah_blob_check_tree(blob, header, i, s));
        }
    }
#else
    (void)blob;
    (void)header;
#endif
    return SOLAH_BLOB_OK;
}

/* Whether rules have numbers that there are. */
static inline int solah_blob_are_rules(const solah_blob_header *header, int section)
{
    const uint16_t *rule = (const uint16_t *)solah_blob_at(header, section);
    for (uint32_t i = 0; i < solah_blob_count(header, section); i++) {
        if (rule[i] >= header->n_rules) {
            return 0;
        }
    }
    return 1;
}

/* The last stage has one rule per knot, state and node of a tree, and per grid a first rule and their number. */
static inline int solah_blob_check_rules(const solah_blob *blob, const solah_blob_header *header)
{
    const solah_stage *last = &blob->stages[blob->tables.n_stages - 1u];
    const solah_blob_tree *tree =
        SOLAH_BLOB_AT(header, TREES) + last->first_walk;
    uint32_t n_knots = 0, n_states = 0;

    for (uint32_t i = 0; i < last->n_curves; i++) {
        n_knots += blob->tables.curves[last->first_curve + i].n_knots;
    }
    for (uint32_t i = 0; i < last->n_tables; i++) {
        n_states += blob->tables.tables[last->first_table + i].n_states;
    }
    if (!SOLAH_BLOB_HAS(header, OF_KNOTS, n_knots, 0) ||
        !SOLAH_BLOB_HAS(header, OF_STATES, n_states, 0) ||
        !SOLAH_BLOB_HAS(header, OF_GRIDS, 2u * last->n_grids, 0) ||
        !SOLAH_BLOB_HAS(header, FIRST_NODE, last->n_walks, 0)) {
        return SOLAH_BLOB_PLACE;
    }
    for (uint32_t i = 0; i < last->n_walks; i++) {
        if (!SOLAH_BLOB_HAS(header, OF_NODES, blob->rules.first_node[i], tree[i].n_nodes)) {
            return SOLAH_BLOB_PLACE;
        }
    }
    for (uint32_t i = 0; i < last->n_grids; i++) {
        const uint16_t *rules = blob->rules.of_grids + 2u * i;
        if ((uint32_t)rules[0] + rules[1] > header->n_rules) {
            return SOLAH_BLOB_PLACE;
        }
    }
    return solah_blob_are_rules(header, SOLAH_BLOB_OF_KNOTS) &&
                   solah_blob_are_rules(header, SOLAH_BLOB_OF_STATES) &&
                   solah_blob_are_rules(header, SOLAH_BLOB_OF_NODES)
               ? SOLAH_BLOB_OK
               : SOLAH_BLOB_PLACE;
}

#include "solah_blob_parts.h"

static inline int solah_blob_check_contents(solah_blob *blob, const solah_blob_header *header)
{
    SOLAH_BLOB_TRY(solah_blob_check_names(blob, header));
    SOLAH_BLOB_TRY(solah_blob_check_curves(blob, header));
    SOLAH_BLOB_TRY(solah_blob_check_tables(blob, header));
    SOLAH_BLOB_TRY(solah_blob_check_grids(blob, header));
    SOLAH_BLOB_TRY(solah_blob_check_stages(blob, header));
    SOLAH_BLOB_TRY(solah_blob_check_trees(blob, header));
    SOLAH_BLOB_TRY(solah_blob_check_rules(blob, header));
    SOLAH_BLOB_TRY(solah_blob_check_numbers(blob));
    SOLAH_BLOB_TRY(solah_blob_check_policy(blob, header));
    return solah_blob_check_signals(blob, header);
}

#endif
