/* A signed blob in, a model that decides out: only if it was signed with the key that is trusted, and
 * is not older than the last one. C99, also C++11.
 *
 *   static solah_blob blob;
 *   if (solah_blob_open_signed(&blob, slot, slot_size, public_key, least_counter) == SOLAH_BLOB_OK) {
 *       least_counter = solah_blob_counter(slot); // keep it where it survives a reset
 *   }
 *
 * Signatures are Ed25519 (RFC 8032). They are checked by Monocypher, two C files of 2-clause BSD or
 * public domain (https://monocypher.org): put monocypher.c, monocypher.h and, of its folder
 * "optional", monocypher-ed25519.c and monocypher-ed25519.h into your build. To have another library
 * check them, define SOLAH_ED25519_CHECK(signature, public_key, message, size) before this file is
 * included: 0 for a signature that holds.
 */
#ifndef SOLAH_SIGNED_H
#define SOLAH_SIGNED_H

#include "solah_blob.h"

#ifndef SOLAH_ED25519_CHECK
#ifdef __has_include
#if !__has_include("monocypher-ed25519.h")
#error "signed blobs need Monocypher (https://monocypher.org): add monocypher.c and monocypher-ed25519.c to the build and their folders to the include path, or define SOLAH_ED25519_CHECK"
#endif
#endif
#include "monocypher-ed25519.h"
#define SOLAH_ED25519_CHECK(signature, public_key, message, size) \
    crypto_ed25519_check(signature, public_key, message, size)
#endif

#define SOLAH_SIGNED_VERSION 1
#define SOLAH_SIGNED_HEAD 20u
#define SOLAH_SIGNED_TAIL 64u

/* What solah_blob_open_signed returns beside what solah_blob_open does. */
enum {
    SOLAH_SIGNED_MAGIC = 100,
    SOLAH_SIGNED_OTHERWISE,
    SOLAH_SIGNED_OLDER
};

/* A number of n_bytes bytes, the lowest first. */
static inline uint64_t solah_signed_number(const uint8_t *bytes, int n_bytes)
{
    uint64_t number = 0u;
    while (n_bytes-- > 0) {
        number = (number << 8) | bytes[n_bytes];
    }
    return number;
}

/* The counter of a signed blob that was opened. */
static inline uint64_t solah_blob_counter(const void *bytes)
{
    return solah_signed_number((const uint8_t *)bytes + 8, 8);
}

/* Whether bytes are an envelope of which all is there. */
static inline int solah_signed_check_head(const uint8_t *bytes, size_t size)
{
    const size_t around = SOLAH_SIGNED_HEAD + SOLAH_SIGNED_TAIL;

    if (bytes == NULL || size < around) {
        return SOLAH_BLOB_TOO_SHORT;
    }
    if (bytes[0] != 'S' || bytes[1] != 'L' || bytes[2] != 'H' || bytes[3] != 'S') {
        return SOLAH_SIGNED_MAGIC;
    }
    if (solah_signed_number(bytes + 4, 4) != SOLAH_SIGNED_VERSION) {
        return SOLAH_BLOB_OTHER_VERSION;
    }
    if (solah_signed_number(bytes + 16, 4) > size - around) {
        return SOLAH_BLOB_TOO_SHORT;
    }
    return SOLAH_BLOB_OK;
}

/* Open a signed blob: check who signed it before anything of it is used, then that its counter is not
 * below the least, then all of the blob. Returns SOLAH_BLOB_OK or what is wrong; then nothing is open.
 * `size` may be more than it has. The bytes must be such that nobody changes them meanwhile. */
static inline int solah_blob_open_signed(solah_blob *blob, const void *bytes, size_t size,
                                         const uint8_t *inputs, const uint8_t public_key[32], uint64_t least_counter)
{
    const uint8_t *signed_bytes = (const uint8_t *)bytes;
    const int fault = solah_signed_check_head(signed_bytes, size);

    blob->header = NULL;
    if (fault != SOLAH_BLOB_OK) {
        return fault;
    }
    const size_t n_blob = (size_t)solah_signed_number(signed_bytes + 16, 4);
    const size_t n_signed = SOLAH_SIGNED_HEAD + n_blob;
    if (SOLAH_ED25519_CHECK(signed_bytes + n_signed, public_key, signed_bytes, n_signed) != 0) {
        return SOLAH_SIGNED_OTHERWISE;
    }
    if (solah_blob_counter(bytes) < least_counter) {
        return SOLAH_SIGNED_OLDER;
    }
    return solah_blob_open(blob, signed_bytes + SOLAH_SIGNED_HEAD, n_blob, inputs);
}

/* What a fault is, for people; those of solah_blob_open, too. */
static inline const char *solah_signed_fault(int code)
{
    switch (code) {
    case SOLAH_SIGNED_MAGIC:
        return "these bytes are not a signed blob of solah";
    case SOLAH_SIGNED_OTHERWISE:
        return "the blob was changed, or signed with another key than the one that is trusted here";
    case SOLAH_SIGNED_OLDER:
        return "the blob is older than one that was opened before";
    default:
        return solah_blob_fault(code);
    }
}

#endif
