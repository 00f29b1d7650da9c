/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum of long data by multiplication without carries: sixteen bytes at a time, four of
 * them side by side. After "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", Intel,
 * 2009; the constants are powers of x modulo the polynomial, bits reversed. */
#include "crc32_folded.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <smmintrin.h>
#include <wmmintrin.h>

#define FOLDS __attribute__((target("sse4.1,pclmul")))

enum { NOT_ASKED, YES, NO };

int ew_crc32_can_fold(void) {
    static volatile int answer; /* whoever asks at the same time finds the same */
    unsigned a, b, c = 0, d;
    if (answer == NOT_ASKED)
        answer = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_PCLMUL) && (c & bit_SSE4_1) ? YES : NO;
    return answer == YES;
}

FOLDS static __m128i load(const uint8_t *bytes) {
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* What was read so far, moved on by as many bits as the constants stand for, and what comes. */
FOLDS static __m128i folded(__m128i sum, __m128i constants, __m128i next) {
    __m128i low = _mm_clmulepi64_si128(sum, constants, 0x00);
    __m128i high = _mm_clmulepi64_si128(sum, constants, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

FOLDS static uint32_t reduced(__m128i sum, __m128i constants) {
    const __m128i every_other = _mm_setr_epi32(-1, 0, -1, 0);
    const __m128i last = _mm_set_epi64x(0, 0x163cd6124);
    const __m128i polynomial = _mm_set_epi64x(0x1f7011641, 0x1db710641);
    sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, constants, 0x10));
    __m128i rest = _mm_srli_si128(sum, 4);
    sum = _mm_clmulepi64_si128(_mm_and_si128(sum, every_other), last, 0x00);
    sum = _mm_xor_si128(sum, rest);
    rest = _mm_clmulepi64_si128(_mm_and_si128(sum, every_other), polynomial, 0x10);
    rest = _mm_clmulepi64_si128(_mm_and_si128(rest, every_other), polynomial, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(sum, rest), 1);
}

FOLDS uint32_t ew_crc32_folded(uint32_t crc, const uint8_t *bytes, size_t length) {
    const __m128i by_four = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_one = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i sums[4];
    for (int i = 0; i < 4; i++)
        sums[i] = load(bytes + 16 * i);
    sums[0] = _mm_xor_si128(sums[0], _mm_cvtsi32_si128((int)crc));
    for (bytes += 64, length -= 64; length >= 64; bytes += 64, length -= 64)
        for (int i = 0; i < 4; i++)
            sums[i] = folded(sums[i], by_four, load(bytes + 16 * i));
    __m128i sum = sums[0];
    for (int i = 1; i < 4; i++)
        sum = folded(sum, by_one, sums[i]);
    for (; length >= 16; bytes += 16, length -= 16)
        sum = folded(sum, by_one, load(bytes));
    return reduced(sum, by_one);
}
#else
int ew_crc32_can_fold(void) {
    return 0;
}

uint32_t ew_crc32_folded(uint32_t crc, const uint8_t *bytes, size_t length) {
    (void)bytes, (void)length;
    return crc;
}
#endif
