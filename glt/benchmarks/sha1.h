/* SHA-1 of messages that fit one block: what the generator of the Unbalanced Tree Search is made of. */
#ifndef TRENCADIS_BENCHMARKS_SHA1_H
#define TRENCADIS_BENCHMARKS_SHA1_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The digest of one padded block, both as words in the order of the standard (big-endian bytes already turned). */
typedef void (*Sha1Block)(const uint32_t block[16], uint32_t digest[5]);

void sha1_block_portable(const uint32_t block[16], uint32_t digest[5]);
/* The processor's own SHA-1 instructions; NULL where it has none. */
Sha1Block sha1_block_native(void);
/* The faster of the two that run here. */
Sha1Block sha1_block_best(void);

#ifdef __cplusplus
}
#endif

#endif
