/* The CRC-32 of Ethernet, zip and PNG: of bytes, on top of that of those before (0 at first). */
#ifndef SOLAH_CRC_H
#define SOLAH_CRC_H

#include <stddef.h>
#include <stdint.h>

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

#endif
