/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

enum { BLOCK = 1 << 21 };  /* bytes of an entry of level2 */
enum { ATTR_NORMAL, ATTR_DEVICE, ATTR_NONCACHEABLE, ATTR_WRITE_THROUGH };

/* Text's second mapping: as far above it as the first GiB of RAM is from the start of memory. */
#define TEXT_ALIAS 0x40000000

extern uint64_t level1[512], level2[512];  /* of addresses 0 up, and of RAM's first GiB */
uint64_t block(uint64_t physical, unsigned attributes, uint64_t permissions);
#define INNER_SHAREABLE (UINT64_C(3) << 8)
#define READ_ONLY (UINT64_C(1) << 7)
#define NO_EXECUTE (UINT64_C(3) << 53)

void mmu_start(void);   /* the first core: tables, and mmu_enable() */
void mmu_enable(void);  /* each other one */
