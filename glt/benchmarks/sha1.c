/* FIPS 180-4, section 6.1, for one block. In the tree, because the benchmark is little else: the library functions at hand
 * would be a new dependency (libcrypto), and each of their calls begins, feeds and ends a context, which costs more than the
 * block itself. */
#include "sha1.h"

#include <stddef.h>

static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

static inline uint32_t rotate(uint32_t word, int by) { return word << by | word >> (32 - by); }

static inline uint32_t mix(int round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
    if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
    if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

void sha1_block_portable(const uint32_t block[16], uint32_t digest[5])
{
    uint32_t w[80];
    for (int i = 0; i < 16; ++i) w[i] = block[i];
    for (int i = 16; i < 80; ++i) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = initial[0], b = initial[1], c = initial[2], d = initial[3], e = initial[4];
    for (int i = 0; i < 80; ++i) {
        const uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    digest[0] = initial[0] + a;
    digest[1] = initial[1] + b;
    digest[2] = initial[2] + c;
    digest[3] = initial[3] + d;
    digest[4] = initial[4] + e;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

/* Four rounds; the instruction holds a, b, c, d in one register, a uppermost. The message words of the rounds to come are made
 * beside them: w0 takes w[t..t+3] from the four groups before it. */
#define FOUR_ROUNDS(function, e_in, e_out, words)                                                                                \
    do {                                                                                                                         \
        e_in = _mm_sha1nexte_epu32(e_in, words);                                                                                 \
        e_out = abcd;                                                                                                            \
        abcd = _mm_sha1rnds4_epu32(abcd, e_in, function);                                                                        \
    } while (0)
#define SCHEDULE(w0, w1, w2, w3) (w0 = _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(w0, w1), w2), w3))
#define SIXTEEN_ROUNDS(f0, f1, f2, f3)                                                                                           \
    do {                                                                                                                         \
        SCHEDULE(w0, w1, w2, w3);                                                                                                \
        FOUR_ROUNDS(f0, e0, e1, w0);                                                                                             \
        SCHEDULE(w1, w2, w3, w0);                                                                                                \
        FOUR_ROUNDS(f1, e1, e0, w1);                                                                                             \
        SCHEDULE(w2, w3, w0, w1);                                                                                                \
        FOUR_ROUNDS(f2, e0, e1, w2);                                                                                             \
        SCHEDULE(w3, w0, w1, w2);                                                                                                \
        FOUR_ROUNDS(f3, e1, e0, w3);                                                                                             \
    } while (0)

__attribute__((target("sha,sse4.1,ssse3"))) static __m128i four_words(const uint32_t words[4])
{
    return _mm_shuffle_epi32(_mm_loadu_si128((const __m128i*)words), 0x1b); /* the first word uppermost */
}

__attribute__((target("sha,sse4.1,ssse3"))) static void block_with_instructions(const uint32_t block[16], uint32_t digest[5])
{
    const __m128i abcd_initial = four_words(initial);
    __m128i w0 = four_words(block), w1 = four_words(block + 4), w2 = four_words(block + 8), w3 = four_words(block + 12);
    __m128i abcd = abcd_initial, e0, e1;
    e0 = _mm_add_epi32(_mm_set_epi32((int)initial[4], 0, 0, 0), w0); /* the first e is not a rotated a */
    e1 = abcd;
    abcd = _mm_sha1rnds4_epu32(abcd, e0, 0);
    FOUR_ROUNDS(0, e1, e0, w1);
    FOUR_ROUNDS(0, e0, e1, w2);
    FOUR_ROUNDS(0, e1, e0, w3);
    SIXTEEN_ROUNDS(0, 1, 1, 1);
    SIXTEEN_ROUNDS(1, 1, 2, 2);
    SIXTEEN_ROUNDS(2, 2, 2, 3);
    SIXTEEN_ROUNDS(3, 3, 3, 3);
    e0 = _mm_sha1nexte_epu32(e0, _mm_set_epi32((int)initial[4], 0, 0, 0));
    abcd = _mm_shuffle_epi32(_mm_add_epi32(abcd, abcd_initial), 0x1b);
    _mm_storeu_si128((__m128i*)digest, abcd);
    digest[4] = (uint32_t)_mm_extract_epi32(e0, 3);
}

Sha1Block sha1_block_native(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return NULL;
    const int has_sha = b >> 29 & 1;
    return has_sha && __builtin_cpu_supports("sse4.1") ? block_with_instructions : NULL;
}
#else
Sha1Block sha1_block_native(void) { return NULL; }
#endif

Sha1Block sha1_block_best(void)
{
    const Sha1Block native = sha1_block_native();
    return native ? native : sha1_block_portable;
}
