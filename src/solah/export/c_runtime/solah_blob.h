/* Bytes in, a model that decides out: swap models without a new build. C99, also C++11.
 *
 *   static solah_blob blob;
 *   if (solah_blob_open(&blob, bytes, size, WINE_INPUTS) == SOLAH_BLOB_OK) {
 *       decision = solah_blob_decide(&blob, readings, probability);
 *   }
 *
 * Below are solah_blob_judge, for the policy of the model, and solah_blob_push for samples.
 *
 * The bytes stay where they are, in flash or RAM, at an address that is a multiple of 4; a buffer
 * of uint8_t in a union with a uint32_t has one. All of them are checked when they are opened, so
 * that no bytes, damaged or hostile, and no readings lead out of bounds, to an overflow or to an
 * endless loop afterwards. They must not change while they are in use. No malloc, no recursion, no
 * division and no floating point. Solah's documentation describes the format ("Swapping models").
 */
#ifndef SOLAH_BLOB_H
#define SOLAH_BLOB_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The most that is accepted; define others before this file is included. A walk is a tree over
 * several inputs. On 32-bit processors a solah_blob takes 124 bytes, 36 a stage and 40 a walk: 1,052
 * as it is, and 32 more to take samples. A decision takes about 200 bytes of stack, 2 a class of each stage, 12 a class, 12
 * an input and 8 a condition: 1,000; its reasons take 400 more. Without walks (0 of them) a
 * solah_blob takes 452 bytes, and a quarter less code. */
#ifndef SOLAH_BLOB_MAX_CLASSES
#define SOLAH_BLOB_MAX_CLASSES 16
#endif
#ifndef SOLAH_BLOB_MAX_STAGES
#define SOLAH_BLOB_MAX_STAGES 8
#endif
#ifndef SOLAH_BLOB_MAX_WALKS
#define SOLAH_BLOB_MAX_WALKS 16
#endif
#ifndef SOLAH_BLOB_MAX_INPUTS
#define SOLAH_BLOB_MAX_INPUTS 16
#endif
#ifndef SOLAH_BLOB_MAX_DEPTH
#define SOLAH_BLOB_MAX_DEPTH 16
#endif
/* To take samples, too: the samples of all channels in a window together, those of one, and the
 * channels. A solah_blob_signals takes 12 bytes, 2 a sample and 8 a channel, measuring a window 6 bytes
 * of stack a sample of one channel. With 0 samples, a blob decides on readings alone. */
#ifndef SOLAH_BLOB_MAX_SAMPLES
#define SOLAH_BLOB_MAX_SAMPLES 0
#endif
#ifndef SOLAH_BLOB_MAX_WINDOW
#define SOLAH_BLOB_MAX_WINDOW 128
#endif
#ifndef SOLAH_BLOB_MAX_CHANNELS
#define SOLAH_BLOB_MAX_CHANNELS 8
#endif
#if SOLAH_BLOB_MAX_SAMPLES > 65535 || SOLAH_BLOB_MAX_CHANNELS < 1 || \
    SOLAH_BLOB_MAX_CHANNELS > 255 || SOLAH_BLOB_MAX_WINDOW < 2
#error "a solah_blob takes up to 65535 samples of 1 to 255 channels, two and more in a window"
#endif
#if SOLAH_BLOB_MAX_CLASSES < 2 || SOLAH_BLOB_MAX_STAGES < 1 || SOLAH_BLOB_MAX_INPUTS < 1 || \
    SOLAH_BLOB_MAX_STAGES > 255
#error "a solah_blob has room for two classes and an input at the least, and for 1 to 255 stages"
#endif

/* A rule that supports a decision, and by how much. */
typedef struct {
    uint16_t rule;
    int32_t amount;
} solah_blob_reason;

#define SOLAH_BLOB_MOST_VOTES 32

/* What is remembered of decisions: 112 bytes as it is. */
typedef struct {
    int32_t evidence[SOLAH_BLOB_MAX_CLASSES - 1];
    uint16_t age;
    uint8_t rest[SOLAH_BLOB_MAX_CLASSES - 1];
    uint8_t last[SOLAH_BLOB_MOST_VOTES];
    uint8_t next;
    uint8_t settled;
    uint8_t is_begun;
} solah_blob_state;

/* A decision by the policy; classes are indices, and -1 is "don't know". */
typedef struct {
    int decision;     /* of these readings; -1 where the model abstains */
    int settled;      /* the stable decision */
    uint8_t abstain_reasons;   /* SOLAH_LOW_PROBABILITY, SOLAH_FEW_READINGS, SOLAH_OUT_OF_RANGE, SOLAH_UNSEEN */
    uint8_t n_unseen; /* how many pairs of readings never occurred together so */
} solah_blob_verdict;

#if SOLAH_BLOB_MAX_SAMPLES > 0
/* The last samples. */
typedef struct {
    int16_t ring[SOLAH_BLOB_MAX_SAMPLES];
    int16_t last[SOLAH_BLOB_MAX_CHANNELS];
    uint32_t left;
    uint32_t count;
    uint32_t complete;
    uint16_t gap[SOLAH_BLOB_MAX_CHANNELS];
    uint16_t wait[SOLAH_BLOB_MAX_CHANNELS];
    uint16_t next[SOLAH_BLOB_MAX_CHANNELS];
} solah_blob_signals;
#endif

#define SOLAH_SIZES_IN_MODEL
#define SOLAH_N_CLASSES SOLAH_BLOB_MAX_CLASSES
#define SOLAH_N_VALUES (SOLAH_BLOB_MAX_CLASSES - 1)
#define SOLAH_N_STAGES SOLAH_BLOB_MAX_STAGES
#if SOLAH_BLOB_MAX_WALKS > 0
#define SOLAH_MAX_INPUTS SOLAH_BLOB_MAX_INPUTS
#else
#define SOLAH_MAX_INPUTS 0
#endif
#define SOLAH_MAX_DEPTH SOLAH_BLOB_MAX_DEPTH
#define SOLAH_AT uint16_t
#define SOLAH_NODE uint16_t
#define SOLAH_INPUT int8_t
#define SOLAH_REASON solah_blob_reason
#define SOLAH_GRIDS
#define SOLAH_LOSES
#include "solah_crc.h"
#include "solah_fixed.h"

#define SOLAH_N_READINGS 255
#define SOLAH_SETTLING solah_blob_state
#define SOLAH_VERDICT solah_blob_verdict
#define SOLAH_SMOOTHS
#include "solah_judge.h"
#if SOLAH_BLOB_MAX_SAMPLES > 0
#define SOLAH_N_MEASURED SOLAH_BLOB_MAX_CHANNELS
#define SOLAH_LONGEST SOLAH_BLOB_MAX_WINDOW
#define SOLAH_SIGNALS solah_blob_signals
#define SOLAH_USES(kind) 1
#define SOLAH_INTEGER_SAMPLES
#include "solah_signals.h"
#endif

/* What solah_blob_open returns. */
enum {
    SOLAH_BLOB_OK,
    SOLAH_BLOB_TOO_SHORT,
    SOLAH_BLOB_ALIGNMENT,
    SOLAH_BLOB_MAGIC,
    SOLAH_BLOB_BYTE_ORDER,
    SOLAH_BLOB_OTHER_VERSION,
    SOLAH_BLOB_CHECKSUM,
    SOLAH_BLOB_TOO_LARGE,
    SOLAH_BLOB_PLACE,
    SOLAH_BLOB_NOT_A_TREE,
    SOLAH_BLOB_NUMBERS,
    SOLAH_BLOB_OTHER_INPUTS
};

#include "solah_blob_check.h"

/* Open a blob: check all of it, and point to its parts. Returns SOLAH_BLOB_OK or what is wrong;
 * then nothing is open. `size` may be more than the blob has, such as that of its slot in flash.
 * `inputs` is the hash of the features and categories that the firmware was written for, as the
 * blob's header of inputs has it: a blob with others is refused. With NULL any inputs will do: then
 * find each by its name, see solah_blob_reading and solah_blob_category. */
static inline int solah_blob_open(solah_blob *blob, const void *bytes, size_t size,
                                  const uint8_t *inputs)
{
    const solah_blob_header *header = (const solah_blob_header *)bytes;

    blob->header = NULL;
    SOLAH_BLOB_TRY(solah_blob_check_header(header, size));
    SOLAH_BLOB_TRY(solah_blob_check_sections(header));
    SOLAH_BLOB_TRY(solah_blob_check_counts(header));
    solah_blob_point(blob, header);
    SOLAH_BLOB_TRY(solah_blob_check_contents(blob, header));
    if (inputs != NULL && memcmp(header->inputs, inputs, sizeof header->inputs) != 0) {
        return SOLAH_BLOB_OTHER_INPUTS;
    }
    blob->header = header;
    return SOLAH_BLOB_OK;
}

/* What a fault is, for people. */
static inline const char *solah_blob_fault(int code)
{
    static const char *const texts[] = {
        "the blob is whole",
        "the blob is cut short, or there is none",
        "the blob is not at a multiple of 4",
        "these bytes are not a blob of solah",
        "the blob and this processor order bytes in different ways",
        "the blob has a version that this runtime does not know",
        "the blob is damaged: its checksum is another",
        "the blob needs more of something than SOLAH_BLOB_MAX_... allow",
        "the blob names a place that it does not have",
        "the blob has a broken tree",
        "the blob has numbers out of order, or too large to compute with",
        "the blob has other features or categories than this firmware"};
    return solah_blob_is_within(code, 0, SOLAH_BLOB_OTHER_INPUTS) ? texts[code] : "no fault of a blob";
}

/* How many readings the model takes; 0 where nothing is open. */
static inline int solah_blob_n_readings(const solah_blob *blob)
{
    return blob->header == NULL ? 0 : (int)blob->n_readings;
}

/* The number of classes; 1 for a number, 0 where nothing is open. */
static inline int solah_blob_n_classes(const solah_blob *blob)
{
    return blob->header == NULL ? 0 : (int)blob->tables.n_classes;
}

/* How many rules it has; the file of rules has their texts, a line each. */
static inline int solah_blob_n_rules(const solah_blob *blob)
{
    return blob->header == NULL ? 0 : (int)blob->header->n_rules;
}

/* The first eight bytes of the hash of the model file; NULL where nothing is open. */
static inline const uint8_t *solah_blob_hash(const solah_blob *blob)
{
    return blob->header == NULL ? NULL : blob->header->hash;
}

static inline const char *solah_blob_name(const solah_blob *blob, int32_t place)
{
    const uint8_t *name = blob->names;
    for (; place > 0; place--) {
        name += 3u + solah_blob_name_length(name);
    }
    return (const char *)name + 2;
}

/* The name of a reading, in UTF-8; "" where there is none. */
static inline const char *solah_blob_reading_name(const solah_blob *blob, int place)
{
    return place >= 0 && place < solah_blob_n_readings(blob) ? solah_blob_name(blob, place) : "";
}

/* The name of a class, in UTF-8; "" where there is none. */
static inline const char *solah_blob_class_name(const solah_blob *blob, int place)
{
    const int32_t n_classes = solah_blob_n_classes(blob);
    const int32_t first = solah_blob_n_readings(blob);
    return place >= 0 && n_classes > 1 && place < n_classes ? solah_blob_name(blob, first + place)
                                                             : "";
}

/* The first of some names that is a text, counted from the first of them; -1 where none is. */
static inline int solah_blob_find(const solah_blob *blob, int32_t first, int32_t count,
                                  const char *name)
{
    for (int32_t place = 0; place < count; place++) {
        const char *other = solah_blob_name(blob, first + place);
        size_t i = 0;
        while (name[i] != '\0' && name[i] == other[i]) {
            i++;
        }
        if (name[i] == other[i]) {
            return (int)place;
        }
    }
    return -1;
}

/* The place of a reading among all, by its name; -1 where there is none. */
static inline int solah_blob_reading(const solah_blob *blob, const char *name)
{
    return solah_blob_find(blob, 0, solah_blob_n_readings(blob), name);
}

/* How many categories a reading has; 0 where it is measured, or there is none. */
static inline int solah_blob_n_categories(const solah_blob *blob, int place)
{
    return place >= 0 && place < solah_blob_n_readings(blob)
               ? (int)(blob->categories[place] & ~SOLAH_BLOB_ARE_NUMBERS)
               : 0;
}

/* The name of a category of a reading, in UTF-8; "" where there is none. */
static inline const char *solah_blob_category_name(const solah_blob *blob, int place, int category)
{
    return category >= 0 && category < solah_blob_n_categories(blob, place)
               ? solah_blob_name(blob, solah_blob_n_names(blob) +
                                           solah_blob_first_category(blob, place) + category)
               : "";
}

/* A category of a reading by its name, as the integer that the model reads; SOLAH_UNKNOWN for a name
 * that it does not have. */
static inline int32_t solah_blob_category(const solah_blob *blob, int place, const char *name)
{
    const int32_t count = solah_blob_n_categories(blob, place);
    const int found =
        count == 0 ? -1
                   : solah_blob_find(blob, solah_blob_n_names(blob) +
                                               solah_blob_first_category(blob, place), count, name);
    return found < 0 ? SOLAH_UNKNOWN : found;
}

/* A reading is an integer: solah_reading_of(value, bits), which rounds it. Of a code, which is taken as it is, and of no reading: SOLAH_BLOB_NO_BITS. A missing reading is
 * SOLAH_UNKNOWN. */
static inline int solah_blob_bits(const solah_blob *blob, int place)
{
    return place >= 0 && place < solah_blob_n_readings(blob) ? (int)blob->bits[place]
                                                             : (int)SOLAH_BLOB_NO_BITS;
}

/* A value as the integer that the model reads: solah_reading_of, or a code as it is. */
static inline int32_t solah_blob_reading_of(const solah_blob *blob, int place, SOLAH_REAL value)
{
    const int bits = solah_blob_bits(blob, place);
    if (bits != (int)SOLAH_BLOB_NO_BITS) {
        return solah_reading_of(value, bits);
    }
    const int32_t code = solah_reading_of(value, 0);
    const SOLAH_REAL rest = (SOLAH_REAL)code - value;
    return rest >= (SOLAH_REAL)0.0 && rest <= (SOLAH_REAL)0.0 ? code : SOLAH_UNKNOWN;
}

/* An estimated number, and the amounts of reasons that are weighed, have the unit two to the power
 * of minus these bits. */
static inline int solah_blob_value_bits(const solah_blob *blob)
{
    return blob->header == NULL ? 0 : (int)blob->stages[blob->tables.n_stages - 1u].value_bits;
}

/* Decide on readings: return the class, and write the probability of each, times 32768; -1 where nothing
 * is open. */
static inline int solah_blob_decide(const solah_blob *blob, const int32_t *readings,
                                    uint16_t *probability)
{
    return blob->header == NULL ? -1 : solah_decide(&blob->tables, readings, probability);
}

/* Begin with no decision: after each blob that is opened. */
static inline void solah_blob_settle_start(const solah_blob *blob, solah_blob_state *state)
{
    if (blob->header != NULL) {
        solah_settle_start(&blob->policy, state);
    }
}

/* Decide on readings in the order of time, by the policy of the blob: return the stable decision, and
 * write the probability of each class, times 32768. Without a policy, decisions are as of
 * solah_blob_decide. Returns -1, and writes nothing, where no model of classes is open. */
static inline int solah_blob_judge(const solah_blob *blob, solah_blob_state *state,
                                   const int32_t *readings, uint16_t *probability,
                                   solah_blob_verdict *verdict)
{
    return solah_blob_n_classes(blob) < 2
               ? -1
               : solah_judge(&blob->tables, &blob->policy, state, readings,
                             (int32_t)blob->n_readings, probability, verdict);
}

#if SOLAH_BLOB_MAX_SAMPLES > 0
/* How many numbers a sample has; 0 where the blob decides on readings alone. */
static inline int solah_blob_n_samples(const solah_blob *blob)
{
    return blob->header == NULL ? 0 : (int)blob->way.n_measured;
}

/* Begin with no samples: after each blob that is opened. Returns 0 if the blob takes none. */
static inline int solah_blob_start(const solah_blob *blob, solah_blob_signals *signals)
{
    if (solah_blob_n_samples(blob) == 0) {
        return 0;
    }
    solah_start(signals, &blob->way);
    return 1;
}

/* The index of a channel in a sample, by its name; -1 where there is none. */
static inline int solah_blob_channel(const solah_blob *blob, const char *name)
{
    return solah_blob_find(blob, solah_blob_first_channel(blob), solah_blob_n_samples(blob), name);
}

/* The bits of a channel's samples: solah_reading_of(value, bits) is one. SOLAH_BLOB_NO_BITS for counts
 * of an ADC, which are taken as they are, and for no channel. */
static inline int solah_blob_sample_bits(const solah_blob *blob, int channel)
{
    return channel >= 0 && channel < solah_blob_n_samples(blob)
               ? (int)blob->way.measured[channel].bits
               : (int)SOLAH_BLOB_NO_BITS;
}

/* Take a sample, an integer for each channel and SOLAH_UNKNOWN for a missing one: return 1 if it
 * completes a window, else 0. */
static inline int solah_blob_push(const solah_blob *blob, solah_blob_signals *signals,
                                  const int32_t *sample)
{
    return solah_blob_n_samples(blob) > 0 ? solah_push(signals, &blob->way, sample) : 0;
}

/* Copy the complete window, where an interrupt pushes samples: return 0 if a sample came since. */
static inline int solah_blob_take(const solah_blob_signals *signals, solah_blob_signals *window)
{
    return solah_take(signals, window);
}

/* Compute the readings of the window that is complete; those that no feature makes are unknown. */
static inline void solah_blob_measure(const solah_blob *blob, const solah_blob_signals *signals,
                                      int32_t *readings)
{
    for (int a = 0; a < solah_blob_n_readings(blob); a++) {
        readings[a] = SOLAH_UNKNOWN;
    }
    if (solah_blob_n_samples(blob) > 0) {
        solah_measure(signals, &blob->way, readings);
    }
}
#endif

/* Estimate a number from readings; 0 where no model of a number is open. */
static inline int32_t solah_blob_estimate(const solah_blob *blob, const int32_t *readings)
{
    return solah_blob_n_classes(blob) == 1 ? solah_estimate(&blob->tables, readings) : 0;
}

/* Name the rules that add most to the decision, the largest first: write up to n_most, return how
 * many. */
static inline int solah_blob_why(const solah_blob *blob, const int32_t *readings,
                                 solah_blob_reason *reasons, int n_most)
{
    return blob->header == NULL
               ? 0
               : solah_why(&blob->tables, &blob->rules, readings, reasons, n_most);
}

#endif
