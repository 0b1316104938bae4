/* SPDX-License-Identifier: Apache-2.0
 *
 * Included into newlib's RISC-V assembly by riscv64.sh, so that its functions look like what the
 * compiler makes of -fpatchable-function-entry=8,4 with compressed instructions, =4,2 without:
 *
 *     8 bytes of NOPs    8-byte aligned, named by __patchable_function_entries: the ops slot
 *  f: 8 bytes of NOPs    the two words the tracer patches
 */
/* clang-format off */
#ifndef NOPSCOPE_SITE_H
#define NOPSCOPE_SITE_H

	.macro nopscope_eight_bytes
#ifdef __riscv_compressed
	.rept	4
	c.nop
	.endr
#else
	.rept	2
	nop
	.endr
#endif
	.endm

/* The label of a function that can be traced. Free at this point: t0, t1, t3-t6. */
	.macro nopscope_function f
	.section __patchable_function_entries, "awo", %progbits, .text
	.p2align 3
	.8byte .Lnopscope_site_\f
	.text
	.p2align 3
.Lnopscope_site_\f:
	nopscope_eight_bytes
	.global \f
	.type \f, %function
\f:
	nopscope_eight_bytes
	.endm

#endif
