/* When a decision is withheld, and when one that was taken changes: C99, also C++11. No malloc, no
 * libm, no static data. It is included behind solah_float.h or solah_fixed.h, which define what is
 * computed; define before it
 *
 *   SOLAH_N_READINGS   the readings
 *   SOLAH_SETTLING        the type of what is remembered, whose fields are described at solah_settle
 *   SOLAH_VERDICT      the type of the answer: decision, `settled`, abstain_reasons, n_unseen
 *   SOLAH_SMOOTHS      defined, if scores are averaged
 *
 * Decisions come in the order of time. Scores are smoothed, the stable class stays unless
 * another is ahead by a hysteresis, abstain_reasons withhold a decision, and votes and a min_hold make it stable.
 */
#ifndef SOLAH_JUDGE_H
#define SOLAH_JUDGE_H

/* Why a decision is in abstain_reason. */
enum { SOLAH_LOW_PROBABILITY = 1, SOLAH_FEW_READINGS = 2, SOLAH_OUT_OF_RANGE = 4, SOLAH_UNSEEN = 8 };

#define SOLAH_NOTHING 255 /* in place of a class or a cell: "don't know", and a missing reading */

/* What the training rows held of a reading. Its states are its cells, or its cuts part them. */
typedef struct {
    solah_reading low, high; /* beyond these it is out of range; a low above the high means no range */
    uint16_t first_cut;
    uint8_t n_cuts;
    uint8_t n_states; /* 0 where it is measured */
} solah_cells;

/* Two readings whose cells may never have occurred together: a row of bits for each cell of the
 * first, in it a bit for each cell of the second, the lowest bit of a byte first. */
typedef struct {
    uint8_t first, second;
    uint16_t byte;
} solah_seen;

/* The share of a missing reading, if no scores are added up. */
typedef struct {
    solah_belief share;
    uint8_t feature;
    uint8_t n_states;
} solah_known;

typedef struct {
    const SOLAH_FLASH solah_cells *cells; /* one for each reading, or NULL */
    const SOLAH_FLASH solah_reading *cuts;
    const SOLAH_FLASH solah_seen *pairs;
    const SOLAH_FLASH uint8_t *seen;
    const SOLAH_FLASH solah_belief *min_probability; /* for each class, or NULL */
    const SOLAH_FLASH solah_known *shares;
    solah_belief min_completeness, hysteresis;
#ifndef SOLAH_IN_INTEGERS
    float smoothing; /* the share of each new decision: 2^-smoothing_bits */
#endif
    uint16_t min_hold;
    uint8_t n_pairs, n_shares;
    uint8_t holds_back; /* the abstain_reasons for which a decision is withheld */
    uint8_t most_unseen;
    uint8_t smoothing_bits;
    uint8_t votes, window;
} solah_policy;

/* Begin with no decision. */
static inline void solah_settle_start(const SOLAH_FLASH solah_policy *policy, SOLAH_SETTLING *state)
{
    for (uint8_t i = 0; i < policy->window; i++) {
        state->last[i] = SOLAH_NOTHING;
    }
    state->next = 0;
    state->age = policy->min_hold;
    state->settled = SOLAH_NOTHING;
#ifdef SOLAH_SMOOTHS
    state->is_begun = 0;
#endif
}

#ifdef SOLAH_SMOOTHS
#ifdef SOLAH_IN_INTEGERS
/* Average exponentially: what the division by a power of two leaves waits in `rest` for the next
 * one, so that no offset stays. Half of a unit is there to begin with: the mean is rounded. */
static inline void solah_average(const SOLAH_FLASH solah_policy *policy, SOLAH_SETTLING *state,
                                 int32_t v, int32_t number)
{
    const uint32_t bits = policy->smoothing_bits;
    const uint32_t way = (uint32_t)(number - state->evidence[v] + (int32_t)state->rest[v]);
    state->evidence[v] +=
        (int32_t)((way ^ 0x80000000u) >> bits) - (int32_t)(0x80000000u >> bits);
    state->rest[v] = (uint8_t)(way & ((1u << bits) - 1u));
}

static inline void solah_begin_average(const SOLAH_FLASH solah_policy *policy, SOLAH_SETTLING *state,
                                       int32_t v, int32_t number)
{
    state->evidence[v] = number;
    state->rest[v] = (uint8_t)((1u << policy->smoothing_bits) >> 1);
}
#else
static inline void solah_average(const SOLAH_FLASH solah_policy *policy, SOLAH_SETTLING *state,
                                 int32_t v, float number)
{
    state->evidence[v] += (number - state->evidence[v]) * policy->smoothing;
}

static inline void solah_begin_average(const SOLAH_FLASH solah_policy *policy, SOLAH_SETTLING *state,
                                       int32_t v, float number)
{
    (void)policy;
    state->evidence[v] = number;
}
#endif

/* Smooth what the last stage adds up. */
static inline void solah_smooth(solah_model *model, const SOLAH_FLASH solah_policy *policy,
                                SOLAH_SETTLING *state, solah_number *total)
{
    for (int32_t v = 0; v < SOLAH_VALUES(model) && policy->smoothing_bits > 0; v++) {
        if (state->is_begun) {
            solah_average(policy, state, v, total[v]);
        } else {
            solah_begin_average(policy, state, v, total[v]);
        }
        total[v] = state->evidence[v];
    }
    state->is_begun = 1;
}
#endif

/* Whether a reading is known: one of its states, or any number where it is measured. */
static inline int solah_is_given(solah_reading x, uint8_t n_states)
{
    return n_states > 0 ? solah_state(x, (int32_t)n_states) < (int32_t)n_states : solah_is_known(x);
}

/* The cell of a reading. */
static inline uint8_t solah_cell(const SOLAH_FLASH solah_policy *policy,
                                 const SOLAH_FLASH solah_cells *cells, solah_reading x)
{
    const SOLAH_FLASH solah_reading *cut = policy->cuts + cells->first_cut;
    uint8_t cell = 0;

    if (!solah_is_given(x, cells->n_states)) {
        return SOLAH_NOTHING;
    }
    if (cells->n_states > 0) {
        return (uint8_t)solah_state(x, (int32_t)cells->n_states);
    }
    while (cell < cells->n_cuts && x >= cut[cell]) {
        cell++;
    }
    return cell;
}

/* How many pairs of cells never occurred together. */
static inline uint8_t solah_count_unseen(const SOLAH_FLASH solah_policy *policy,
                                         const uint8_t *cell)
{
    uint8_t count = 0;
    for (uint8_t i = 0; i < policy->n_pairs; i++) {
        const SOLAH_FLASH solah_seen *pair = &policy->pairs[i];
        const SOLAH_FLASH solah_cells *second = &policy->cells[pair->second];
        const uint32_t size = second->n_states > 0 ? second->n_states : second->n_cuts + 1u;
        const uint32_t bit = cell[pair->first] * size + cell[pair->second];
        if (cell[pair->first] != SOLAH_NOTHING && cell[pair->second] != SOLAH_NOTHING &&
            ((uint32_t)policy->seen[pair->byte + (bit >> 3)] >> (bit & 7u) & 1u) == 0u) {
            count++;
        }
    }
    return count;
}

/* The abstain_reasons that readings raise, by what the training rows held. */
static inline uint8_t solah_doubt_cells(const SOLAH_FLASH solah_policy *policy,
                                        const solah_reading *x, int32_t n_readings,
                                        uint8_t *n_unseen)
{
    uint8_t cell[SOLAH_N_READINGS];
    uint8_t abstain_reasons = 0;

    for (int32_t a = 0; a < n_readings; a++) {
        const SOLAH_FLASH solah_cells *cells = &policy->cells[a];
        const int has_range = cells->low <= cells->high;
        cell[a] = solah_cell(policy, cells, x[a]);
        if (has_range && cell[a] != SOLAH_NOTHING && (x[a] < cells->low || x[a] > cells->high)) {
            abstain_reasons |= SOLAH_OUT_OF_RANGE;
        }
    }
    *n_unseen = solah_count_unseen(policy, cell);
    if (*n_unseen > policy->most_unseen) {
        abstain_reasons |= SOLAH_UNSEEN;
    }
    return abstain_reasons;
}

/* Whether the completeness is too low. */
static inline int solah_is_little(const SOLAH_FLASH solah_policy *policy, const solah_reading *x,
                                  solah_weight lost)
{
    for (uint8_t i = 0; i < policy->n_shares; i++) {
        const SOLAH_FLASH solah_known *known = &policy->shares[i];
        if (!solah_is_given(x[known->feature], known->n_states)) {
            lost += known->share;
        }
    }
#ifdef SOLAH_IN_INTEGERS
    return (int32_t)SOLAH_ONE - (int32_t)lost < (int32_t)policy->min_completeness;
#else
    return SOLAH_WHOLE - lost < policy->min_completeness;
#endif
}

/* The class to decide for: the stable one, unless the best is ahead by the hysteresis. */
static inline int32_t solah_keep(solah_model *model, const SOLAH_FLASH solah_policy *policy,
                                 const SOLAH_SETTLING *state, const solah_belief *belief,
                                 int32_t best)
{
    const int32_t settled = state->settled;
    if (!(policy->hysteresis > (solah_belief)0) || settled >= SOLAH_CLASSES(model) || settled == best) {
        return best;
    }
#ifdef SOLAH_IN_INTEGERS
    return (int32_t)belief[best] - (int32_t)belief[settled] < (int32_t)policy->hysteresis ? settled
                                                                                      : best;
#else
    return belief[best] - belief[settled] < policy->hysteresis ? settled : best;
#endif
}

/* Take the next decision, the place of a class or SOLAH_NOTHING: return the stable one.
 *
 * The state has `last` with the last decisions, `next` with the place behind the newest of them,
 * `settled`, and `age` with for how many decisions it has been; where scores are averaged,
 * `is_begun`, the means of the scores and, in integers, `rest`. */
static inline uint8_t solah_settle(const SOLAH_FLASH solah_policy *policy, SOLAH_SETTLING *state,
                                   uint8_t place)
{
    uint8_t n_votes = 0;

    if (state->next >= policy->window) {
        state->next = 0;
    }
    state->last[state->next] = place;
    state->next++;
    if (state->age < UINT16_MAX) {
        state->age++;
    }
    for (uint8_t i = 0; i < policy->window; i++) {
        if (state->last[i] == place) {
            n_votes++;
        }
    }
    if (place != state->settled && n_votes >= policy->votes && state->age > policy->min_hold) {
        state->settled = place;
        state->age = 1;
    }
    return state->settled;
}

/* Compute probabilities from smoothed scores: return the share of the missing ones. */
SOLAH_INLINE solah_weight solah_believe_smoothly(solah_model *model,
                                                 const SOLAH_FLASH solah_policy *policy,
                                                 SOLAH_SETTLING *state, const solah_reading *x,
                                                 solah_belief beliefs[][SOLAH_N_CLASSES],
                                                 solah_number *total)
{
    solah_loss loss = {(solah_weight)0, (solah_weight)0};
    for (int32_t s = 0; s < SOLAH_STAGES(model); s++) {
        const SOLAH_FLASH solah_stage *stage = &model->stages[s];
        loss = solah_add_up(model, stage, x, beliefs, total);
#ifdef SOLAH_SMOOTHS
        if (s == SOLAH_STAGES(model) - 1) {
            solah_smooth(model, policy, state, total);
        }
#else
        (void)policy;
        (void)state;
#endif
        solah_conclude(model, stage, total, beliefs[s]);
    }
    return loss.shares;
}

/* Decide by the policy: return the stable decision, and write the probability of each class. */
static inline int solah_judge(solah_model *model, const SOLAH_FLASH solah_policy *policy,
                              SOLAH_SETTLING *state, const solah_reading *x, int32_t n_readings,
                              solah_belief *belief, SOLAH_VERDICT *verdict)
{
    solah_belief beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{(solah_belief)0}};
    const solah_belief *decided = beliefs[SOLAH_STAGES(model) - 1];
    solah_number total[SOLAH_N_VALUES] = {(solah_number)0};
    uint8_t abstain_reasons = 0;

    const solah_weight lost = solah_believe_smoothly(model, policy, state, x, beliefs, total);
    for (int32_t c = 0; c < SOLAH_CLASSES(model); c++) {
        belief[c] = decided[c];
    }
    const int32_t place =
        solah_keep(model, policy, state, belief, solah_best(model, decided, total, -1));
    verdict->n_unseen = 0;
    if (policy->cells != NULL) {
        abstain_reasons = solah_doubt_cells(policy, x, n_readings, &verdict->n_unseen);
    }
    if (policy->min_probability != NULL && belief[place] < policy->min_probability[place]) {
        abstain_reasons |= SOLAH_LOW_PROBABILITY;
    }
    if (policy->min_completeness > (solah_belief)0 && solah_is_little(policy, x, lost)) {
        abstain_reasons |= SOLAH_FEW_READINGS;
    }
    const int is_held_back = (abstain_reasons & policy->holds_back) != 0;
    const uint8_t settled =
        solah_settle(policy, state, is_held_back ? (uint8_t)SOLAH_NOTHING : (uint8_t)place);
    verdict->abstain_reasons = abstain_reasons;
    verdict->decision = is_held_back ? -1 : (int)place;
    verdict->settled = settled == SOLAH_NOTHING ? -1 : (int)settled;
    return verdict->settled;
}

#endif
