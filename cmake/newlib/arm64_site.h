/* SPDX-License-Identifier: Apache-2.0
 *
 * Included into newlib's aarch64 assembly by arm64.sh, so that its functions look like what the
 * compiler makes of -fpatchable-function-entry=4,2 with -mbranch-protection=standard:
 *
 *     nop nop        8-byte aligned, named by __patchable_function_entries: the ops slot
 *  f: bti c
 *     nop nop        the two words the tracer patches
 */
/* clang-format off */
#ifndef NOPSCOPE_SITE_H
#define NOPSCOPE_SITE_H

/* The label of a function that can be traced. Free at this point: x9-x17. */
	.macro nopscope_function f
	.section __patchable_function_entries, "awo", %progbits, .text
	.p2align 3
	.8byte .Lnopscope_site_\f
	.text
	.p2align 3
.Lnopscope_site_\f:
	nop
	nop
	.global \f
	.type \f, %function
\f:
	bti	c
	nop
	nop
	.endm

/* The label of a function that must not be traced: a landing pad and nothing else. */
	.macro nopscope_plain_function f
	.text
	.p2align 3
	.global \f
	.type \f, %function
\f:
	bti	c
	.endm

#endif
