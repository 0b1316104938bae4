/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

enum { BLOCK = 1 << 21 };  /* bytes of an entry of level2 */
enum { ATTR_NORMAL, ATTR_DEVICE, ATTR_NONCACHEABLE, ATTR_WRITE_THROUGH };

/* How far text's second mapping is above text. RAM's first GiB is as far above address 0. */
#define TEXT_ALIAS 0x40000000

extern uint64_t level1[512], level2[512]; /* for addresses from 0, and for RAM's first GiB */
uint64_t block(uint64_t physical, unsigned attributes, uint64_t permissions);
#define INNER_SHAREABLE (UINT64_C(3) << 8)
#define READ_ONLY (UINT64_C(1) << 7)
#define NO_EXECUTE (UINT64_C(3) << 53)

void mmu_start(void);  /* first core: makes the tables, calls mmu_enable() */
void mmu_enable(void); /* each core */
