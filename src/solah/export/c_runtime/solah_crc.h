/* The CRC-32 of Ethernet, zip and PNG: of bytes, on top of that of those before (0 at first). */
#ifndef SOLAH_CRC_H
#define SOLAH_CRC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t solah_crc(uint32_t crc, const uint8_t *bytes, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 1u) != 0u ? (crc >> 1) ^ 0xEDB88320u : crc >> 1;
        }
    }
    return ~crc;
}

/* The CRC-32 of a number in four bytes, the lowest first. */
static inline uint32_t solah_crc_number(uint32_t crc, uint32_t number)
{
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    return solah_crc(crc, bytes, sizeof bytes);
}

static inline uint32_t solah_crc_float(uint32_t crc, float number)
{
    uint32_t bits;
    (void)memcpy(&bits, &number, sizeof bits);
    return solah_crc_number(crc, bits);
}

#endif
