/* Adds up scores to a decision, and finds its reasons: what both runtimes share. It needs
 * solah_add_curve, solah_state, solah_begin_walk, solah_next, solah_share and solah_complete. */
#ifndef SOLAH_DECIDE_H
#define SOLAH_DECIDE_H

SOLAH_INLINE void solah_add_table(solah_model *model,
                                  const SOLAH_FLASH solah_table *table, solah_reading x,
                                  solah_number *total)
{
    const int32_t state = solah_state(x, (int32_t)table->n_states);
    solah_add(model, total, model->values + table->value + state * SOLAH_VALUES(model));
}

#ifdef SOLAH_GRIDS
/* Between which lines of a grid a reading lies: the first, and the weights of it and of the next. */
typedef struct {
    int32_t line;
    int32_t count;
    solah_weight weight[2];
} solah_between;

/* Up to four lines of values, each once, with the weights that readings give them. */
typedef struct {
    int32_t count;
    uint8_t line[4];
    solah_weight weight[4];
} solah_mix;

SOLAH_INLINE void solah_find(solah_model *model, const SOLAH_FLASH solah_side *side,
                             solah_reading x, solah_between *found)
{
    const SOLAH_FLASH solah_knot *knot = model->knots + side->knot;
    const int32_t last = (int32_t)side->n_lines - 1;

    found->count = 1;
    found->weight[0] = SOLAH_SURE;
    if (side->is_state || !solah_is_known(x)) {
        found->line = side->is_state ? solah_state(x, last + 1) : last + 1;
        return;
    }
    x = solah_inside(knot, last, solah_relative(model, side->feature, x));
    found->line = solah_piece(knot, last, x);
    if (last == 0 || !(x > knot[found->line])) {
        return;
    }
    if (x >= knot[found->line + 1]) {
        found->line++;
        return;
    }
    found->weight[1] = solah_upper(model->values + side->value, found->line, x - knot[found->line]);
    found->weight[0] = SOLAH_SURE - found->weight[1];
    found->count = 2;
}

/* Mix the cells between which two readings lie; return whether both are known. */
SOLAH_INLINE int solah_mix_cells(solah_model *model, const SOLAH_FLASH solah_grid *grid,
                                 const solah_reading *x, solah_mix *mix)
{
    const int32_t width = (int32_t)grid->sides[1].n_lines + 1;
    solah_between rows;
    solah_between columns;

    solah_find(model, &grid->sides[0], x[grid->sides[0].feature], &rows);
    solah_find(model, &grid->sides[1], x[grid->sides[1].feature], &columns);
    mix->count = 0;
    for (int32_t i = 0; i < rows.count; i++) {
        for (int32_t j = 0; j < columns.count; j++) {
            const int32_t cell = (rows.line + i) * width + columns.line + j;
            const uint8_t line = model->cells[(int32_t)grid->cell + cell];
            int32_t m = 0;
            while (m < mix->count && mix->line[m] != line) {
                m++;
            }
            if (m == mix->count) {
                mix->line[m] = line;
                mix->weight[m] = (solah_weight)0;
                mix->count++;
            }
            mix->weight[m] += solah_joint(rows.weight[i], columns.weight[j]);
        }
    }
    return rows.line < (int32_t)grid->sides[0].n_lines && columns.line < width - 1;
}

SOLAH_INLINE int solah_add_grid(solah_model *model, const SOLAH_FLASH solah_grid *grid,
                                const solah_reading *x, solah_number *total)
{
    solah_mix mix;
    const int is_known = solah_mix_cells(model, grid, x, &mix);

    for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
        solah_number sum = (solah_number)0;
        for (int32_t m = 0; m < mix.count; m++) {
            const int32_t at = (int32_t)grid->value + mix.line[m] * SOLAH_VALUES(model) + v;
            sum += solah_weighed(mix.weight[m], model->values[at]);
        }
        total[v] += solah_rounded(sum);
    }
    return is_known;
}
#endif

#if SOLAH_MAX_INPUTS > 0
/* Jeffrey's rule: add the scores of each branch, by its weight. */
SOLAH_INLINE void solah_add_walk(solah_model *model,
                                 const SOLAH_FLASH solah_walk *walk, const solah_reading *x,
                                 solah_belief beliefs[][SOLAH_N_CLASSES], solah_number *total)
{
    solah_path way;
    solah_number scores[SOLAH_N_VALUES] = {0};
    int32_t node;

    solah_begin_walk(model, walk, x, beliefs, &way);
    while ((node = solah_next(walk, &way)) >= 0) {
        for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
            scores[v] +=
                solah_weighed(way.steps[way.depth].weight, solah_leaf_score(model, walk, node, v));
        }
    }
    for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
        total[v] += solah_rounded(scores[v]);
    }
}
#endif

#if SOLAH_MAX_INPUTS > 0
/* Whether what an input asks is known: a reading may be missing, an output never is. */
static inline int solah_is_read(const SOLAH_FLASH solah_walk *walk, int32_t a,
                                const solah_reading *x)
{
    const SOLAH_FLASH solah_asked *asked = &walk->asked[a];
    const int32_t count = (int32_t)walk->sets.offset[a + 1] - (int32_t)walk->sets.offset[a];

    if (asked->kind == SOLAH_READING) {
        return solah_is_known(x[asked->from]);
    }
    return asked->kind != SOLAH_STATE || solah_state(x[asked->from], count) < count;
}
#endif

/* What a stage lacks: the shares of its missing parts, and their squares. */
typedef struct {
    solah_weight shares;
    solah_weight squares;
} solah_loss;

#ifdef SOLAH_LOSES
/* Lose a term of a stage, by its place behind all curves, tables, grids and walks before it. */
static inline void solah_lose(const SOLAH_FLASH solah_stage *stage, int32_t part, solah_loss *loss)
{
    if (stage->lost != NULL) {
        const solah_weight share = stage->lost[part];
        loss->shares += share;
        loss->squares += share * share;
    }
}

#if SOLAH_MAX_INPUTS > 0
/* Whether all that a walk asks is known. */
static inline int solah_is_all_read(const SOLAH_FLASH solah_walk *walk, const solah_reading *x)
{
    int32_t a = 0;
    while (a < (int32_t)walk->n_asked && solah_is_read(walk, a, x)) {
        a++;
    }
    return a == (int32_t)walk->n_asked;
}
#endif

/* Weaken the scores beside missing ones: scores go back to the overall shares. */
SOLAH_INLINE void solah_weaken(solah_model *model, const SOLAH_FLASH solah_stage *stage,
                               const solah_loss *loss, solah_number *total)
{
    if (!(loss->shares > (solah_weight)0)) {
        return;
    }
    const solah_weight left = solah_damping(stage, loss->squares);
    for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
        const solah_number prior = stage->prior[v];
        const solah_number lean = stage->prior[SOLAH_VALUES(model) + v];
        total[v] = prior + solah_scaled((total[v] - prior) - solah_scaled(lean, loss->shares), left);
    }
}
#endif

/* Add up the scores of all parts of a stage: return what is lost of them. */
SOLAH_INLINE solah_loss solah_add_up(solah_model *model,
                                     const SOLAH_FLASH solah_stage *stage, const solah_reading *x,
                                     solah_belief beliefs[][SOLAH_N_CLASSES], solah_number *total)
{
    solah_loss loss = {(solah_weight)0, (solah_weight)0};

    for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
        total[v] = stage->start[v];
    }
    for (int32_t i = 0; i < (int32_t)stage->n_curves; i++) {
        const SOLAH_FLASH solah_curve *curve = &model->curves[stage->first_curve + i];
        solah_add_curve(model, curve, x[curve->feature], total);
#ifdef SOLAH_LOSES
        if (!solah_is_known(x[curve->feature])) {
            solah_lose(stage, i, &loss);
        }
#endif
    }
    for (int32_t i = 0; i < (int32_t)stage->n_tables; i++) {
        const SOLAH_FLASH solah_table *table = &model->tables[stage->first_table + i];
        solah_add_table(model, table, x[table->feature], total);
#ifdef SOLAH_LOSES
        if (solah_state(x[table->feature], (int32_t)table->n_states) == (int32_t)table->n_states) {
            solah_lose(stage, (int32_t)stage->n_curves + i, &loss);
        }
#endif
    }
#ifdef SOLAH_GRIDS
    for (int32_t i = 0; i < (int32_t)stage->n_grids; i++) {
        const int is_known = solah_add_grid(model, &model->grids[stage->first_grid + i], x, total);
#ifdef SOLAH_LOSES
        if (!is_known) {
            solah_lose(stage, (int32_t)stage->n_curves + (int32_t)stage->n_tables + i, &loss);
        }
#else
        (void)is_known;
#endif
    }
#endif
#if SOLAH_MAX_INPUTS > 0
    for (int32_t i = 0; i < (int32_t)stage->n_walks; i++) {
        const SOLAH_FLASH solah_walk *walk = &model->walks[stage->first_walk + i];
        solah_add_walk(model, walk, x, beliefs, total);
#ifdef SOLAH_LOSES
        if (!solah_is_all_read(walk, x)) {
            const int32_t n_before = (int32_t)stage->n_curves + (int32_t)stage->n_tables;
            solah_lose(stage, n_before + (int32_t)stage->n_grids + i, &loss);
        }
#endif
    }
#else
    (void)beliefs;
#endif
#ifdef SOLAH_LOSES
    solah_weaken(model, stage, &loss, total);
#endif
    return loss;
}

/* Turn what a stage adds up into probabilities. */
SOLAH_INLINE void solah_conclude(solah_model *model, const SOLAH_FLASH solah_stage *stage,
                                 const solah_number *total, solah_belief *belief)
{
    if (stage->is_weighed && SOLAH_CLASSES(model) > 1) {
        solah_share(model, stage, total, belief);
    } else {
        solah_complete(model, total, belief);
    }
}

/* Compute all probabilities, from bottom to top; `total` keeps the scores of the last stage. */
SOLAH_INLINE void solah_believe(solah_model *model, const solah_reading *x,
                                solah_belief beliefs[][SOLAH_N_CLASSES], solah_number *total)
{
    for (int32_t s = 0; s < SOLAH_STAGES(model); s++) {
        const SOLAH_FLASH solah_stage *stage = &model->stages[s];
        (void)solah_add_up(model, stage, x, beliefs, total);
        solah_conclude(model, stage, total, beliefs[s]);
    }
}

/* The score of a class in the end. */
SOLAH_INLINE solah_number solah_score(solah_model *model,
                                      const solah_belief *belief, const solah_number *total,
                                      int32_t c)
{
    const int is_weighed = model->stages[SOLAH_STAGES(model) - 1].is_weighed;
    solah_number score = (solah_number)belief[c];
    if (is_weighed) {
        score = c == 0 ? (solah_number)0 : total[c - 1];
    }
    if (model->preference != NULL) {
        score = is_weighed ? score + model->preference[c] : score * model->preference[c];
    }
    return score;
}

/* The class with the highest score, of all but one; the first of equal ones. */
SOLAH_INLINE int32_t solah_best(solah_model *model, const solah_belief *belief,
                                const solah_number *total, int32_t but)
{
    int32_t best = -1;
    solah_number most = (solah_number)0;
    for (int32_t c = 0; c < SOLAH_CLASSES(model); c++) {
        const solah_number score = solah_score(model, belief, total, c);
        if (c != but && (best < 0 || score > most)) {
            most = score;
            best = c;
        }
    }
    return best;
}

/* Decide on readings: return the class, and write the probability of each. */
static inline int solah_decide(solah_model *model, const solah_reading *x,
                               solah_belief *belief)
{
    solah_belief beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{(solah_belief)0}};
    const solah_belief *decided = beliefs[SOLAH_STAGES(model) - 1];
    solah_number total[SOLAH_N_VALUES] = {(solah_number)0};

    solah_believe(model, x, beliefs, total);
    for (int32_t c = 0; c < SOLAH_CLASSES(model); c++) {
        belief[c] = decided[c];
    }
    return (int)solah_best(model, decided, total, -1);
}

/* Decide without the probabilities of the last stage, unless these decide. */
static inline int solah_predict(solah_model *model, const solah_reading *x)
{
    solah_belief beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{(solah_belief)0}};
    solah_number total[SOLAH_N_VALUES] = {(solah_number)0};
    const int32_t last = SOLAH_STAGES(model) - 1;

    for (int32_t s = 0; s < last; s++) {
        (void)solah_add_up(model, &model->stages[s], x, beliefs, total);
        solah_conclude(model, &model->stages[s], total, beliefs[s]);
    }
    (void)solah_add_up(model, &model->stages[last], x, beliefs, total);
    if (!model->stages[last].is_weighed) {
        solah_conclude(model, &model->stages[last], total, beliefs[last]);
    }
    return (int)solah_best(model, beliefs[last], total, -1);
}

/* The rules of the last stage: one a knot of its curves, a state of its tables, of each of its grids
 * the first one and their number, and one a node of its trees, which begin at `first_node`. */
typedef struct {
    const SOLAH_FLASH uint16_t *of_knots;
    const SOLAH_FLASH uint16_t *of_states;
    const SOLAH_FLASH uint16_t *of_grids;
    const SOLAH_FLASH uint16_t *of_nodes;
    const SOLAH_FLASH uint16_t *first_node;
} solah_rules;

/* The two classes that a reason compares: the decision, and the one that comes next. */
typedef struct {
    int32_t first;
    int32_t second;
} solah_pair;

/* The reasons that are found so far, the strongest first. */
typedef struct {
    SOLAH_REASON *listed;
    int32_t count;
    int32_t most;
} solah_reasons;

/* Whether a rule with this amount comes before one that is listed: the larger amount does, and of
 * equal ones the smaller number. */
static inline int solah_is_before(uint16_t rule, solah_number amount, const SOLAH_REASON *listed)
{
    return amount > listed->amount || (!(amount < listed->amount) && rule < listed->rule);
}

/* List a rule with all that it adds to the decision's lead; the weakest of too many falls out. */
static inline void solah_note(solah_reasons *reasons, uint16_t rule, solah_number amount)
{
    SOLAH_REASON *listed = reasons->listed;
    int32_t i = reasons->count;

    if (!(amount > (solah_number)0)) {
        return;
    }
    for (; i > 0 && solah_is_before(rule, amount, &listed[i - 1]); i--) {
        if (i < reasons->most) {
            listed[i] = listed[i - 1];
        }
    }
    if (i < reasons->most) {
        listed[i].rule = rule;
        listed[i].amount = amount;
    }
    if (reasons->count < reasons->most) {
        reasons->count++;
    }
}

/* How far scores, with this share of all probability, put one class before another. A number has no
 * classes: of one that is added up, how far scores move it is taken, else the share itself. */
static inline solah_number solah_lead(solah_model *model, const solah_number *scores,
                                      solah_number share, solah_pair classes)
{
    solah_number first = (solah_number)0;

    const int is_weighed = model->stages[SOLAH_STAGES(model) - 1].is_weighed;
    if (SOLAH_CLASSES(model) == 1) {
        if (!is_weighed) {
            return share;
        }
        return scores[0] < (solah_number)0 ? -scores[0] : scores[0];
    }
    if (!is_weighed) {
        first = share;
        for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
            first -= scores[v];
        }
    }
    return (classes.first == 0 ? first : scores[classes.first - 1]) -
           (classes.second == 0 ? first : scores[classes.second - 1]);
}

#if SOLAH_MAX_INPUTS > 0
/* The weight of the rule whose branch a walk is at, over all its branches. Those are leaves of
 * one node, so that the node above has the weights of all. The first that is taken counts for the
 * others, which return 0. So does a rule that names a missing reading: it names what is asked on
 * the way, but not what the last node asks if it has all leaves of that node. */
static inline solah_weight solah_weight_of_rule(const SOLAH_FLASH solah_walk *walk,
                                                const SOLAH_FLASH uint16_t *rules,
                                                const solah_reading *x, const solah_path *way)
{
    solah_weight sum = (solah_weight)0;
    int32_t d = 0;

    if (way->depth == 0) { /* the tree asks nothing */
        return way->steps[0].weight;
    }
    for (; d < way->depth - 1; d++) {
        if (!solah_is_read(walk, solah_asks(walk, (int32_t)way->steps[d].node), x)) {
            return sum;
        }
    }
    const solah_step *above = &way->steps[d];
    const int32_t leaf = (int32_t)way->steps[way->depth].node;
    const int32_t a = solah_asks(walk, (int32_t)above->node);
    const solah_run *run = &way->runs[a];
    const int32_t first = solah_child(walk, (int32_t)above->node) + (int32_t)run->first;
    const int is_read = solah_is_read(walk, a, x);
    for (int32_t k = 0; k < (int32_t)run->count; k++) {
        const int32_t node = first + k;
        const int is_joined = solah_asks(walk, node) < 0 && rules[node] == rules[leaf];
        const solah_weight weight = solah_weight_below(above, run, k);
        if ((!is_joined && !is_read) ||
            (is_joined && node < leaf && weight > (solah_weight)0)) {
            return (solah_weight)0;
        }
        if (is_joined) {
            sum += weight;
        }
    }
    return sum;
}

static inline void solah_note_walk(solah_model *model, const SOLAH_FLASH solah_walk *walk,
                                   const SOLAH_FLASH uint16_t *rules, const solah_reading *x,
                                   solah_belief beliefs[][SOLAH_N_CLASSES], solah_pair classes,
                                   solah_reasons *reasons)
{
    solah_path way;
    solah_number scores[SOLAH_N_VALUES];
    int32_t node;

    solah_begin_walk(model, walk, x, beliefs, &way);
    while ((node = solah_next(walk, &way)) >= 0) {
        const solah_weight weight = solah_weight_of_rule(walk, rules, x, &way);
        for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
            scores[v] = solah_part(weight, solah_leaf_score(model, walk, node, v));
        }
        const solah_number share = solah_part(weight, SOLAH_WHOLE);
#ifdef SOLAH_LEARNS
        if (rules[node] == UINT16_MAX) { /* a missing reading, which has no rule */
            continue;
        }
#endif
        solah_note(reasons, rules[node], solah_lead(model, scores, share, classes));
    }
}
#endif

#ifdef SOLAH_GRIDS
static inline void solah_note_grid(solah_model *model, const SOLAH_FLASH solah_grid *grid,
                                   const SOLAH_FLASH uint16_t *rules, const solah_reading *x,
                                   solah_pair classes, solah_reasons *reasons)
{
    solah_number scores[SOLAH_N_VALUES];
    solah_mix mix;

    (void)solah_mix_cells(model, grid, x, &mix);
    for (int32_t m = 0; m < mix.count; m++) {
        if (mix.line[m] >= rules[1]) { /* a missing reading, which has no rule */
            continue;
        }
        const int32_t at = (int32_t)grid->value + mix.line[m] * SOLAH_VALUES(model);
        for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
            scores[v] = solah_part(mix.weight[m], model->values[at + v]);
        }
        const solah_number share = solah_part(mix.weight[m], SOLAH_WHOLE);
        solah_note(reasons, (uint16_t)(rules[0] + mix.line[m]),
                   solah_lead(model, scores, share, classes));
    }
}
#endif

static inline void solah_note_curve(solah_model *model, const SOLAH_FLASH solah_curve *curve,
                                    const SOLAH_FLASH uint16_t *rules, solah_reading x,
                                    solah_pair classes, solah_reasons *reasons)
{
    const SOLAH_FLASH solah_knot *knot = model->knots + curve->knot;
    const int32_t last = (int32_t)curve->n_knots - 1;
    solah_number scores[SOLAH_N_VALUES] = {(solah_number)0};

    if (!solah_is_known(x)) {
        return;
    }
    solah_add_curve(model, curve, x, scores);
    x = solah_inside(knot, last, solah_relative(model, curve->feature, x));
    int32_t k = solah_piece(knot, last, x);
    if (!(x - knot[k] < knot[k + 1] - x)) { /* the rule that fires most */
        k++;
    }
    solah_note(reasons, rules[k], solah_lead(model, scores, SOLAH_WHOLE, classes));
}

/* Name the rules of the last stage that add most to the decision; return how many. */
static inline int solah_why(solah_model *model, const SOLAH_FLASH solah_rules *rules,
                            const solah_reading *x, SOLAH_REASON *listed, int n_most)
{
    solah_belief beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{(solah_belief)0}};
    const SOLAH_FLASH solah_stage *stage = &model->stages[SOLAH_STAGES(model) - 1];
    const SOLAH_FLASH uint16_t *rule = rules->of_knots;
    solah_number total[SOLAH_N_VALUES] = {(solah_number)0};
    solah_reasons reasons = {listed, 0, n_most};
    solah_pair classes;

    solah_believe(model, x, beliefs, total);
    const solah_belief *decided = beliefs[SOLAH_STAGES(model) - 1];
    classes.first = solah_best(model, decided, total, -1);
    classes.second = solah_best(model, decided, total, classes.first);
    for (int32_t i = 0; i < (int32_t)stage->n_curves; i++) {
        const SOLAH_FLASH solah_curve *curve = &model->curves[stage->first_curve + i];
        solah_note_curve(model, curve, rule, x[curve->feature], classes, &reasons);
        rule += curve->n_knots;
    }
    rule = rules->of_states;
    for (int32_t i = 0; i < (int32_t)stage->n_tables; i++) {
        const SOLAH_FLASH solah_table *table = &model->tables[stage->first_table + i];
        const int32_t state = solah_state(x[table->feature], (int32_t)table->n_states);
        if (state < (int32_t)table->n_states) {
            solah_number scores[SOLAH_N_VALUES] = {(solah_number)0};
            solah_add_table(model, table, x[table->feature], scores);
            solah_note(&reasons, rule[state], solah_lead(model, scores, SOLAH_WHOLE, classes));
        }
        rule += table->n_states;
    }
#ifdef SOLAH_GRIDS
    for (int32_t i = 0; i < (int32_t)stage->n_grids; i++) {
        solah_note_grid(model, &model->grids[stage->first_grid + i], rules->of_grids + 2 * i, x,
                        classes, &reasons);
    }
#endif
#if SOLAH_MAX_INPUTS > 0
    for (int32_t i = 0; i < (int32_t)stage->n_walks; i++) {
        solah_note_walk(model, &model->walks[stage->first_walk + i],
                        rules->of_nodes + rules->first_node[i], x, beliefs, classes, &reasons);
    }
#endif
    return (int)reasons.count;
}

/* Estimate a number from readings; integers in the unit 2^-value_bits. */
static inline solah_number solah_estimate(solah_model *model,
                                          const solah_reading *x)
{
    solah_belief beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{(solah_belief)0}};
    solah_number total[SOLAH_N_VALUES];
    (void)solah_add_up(model, &model->stages[0], x, beliefs, total);
    return total[0];
}

#endif
