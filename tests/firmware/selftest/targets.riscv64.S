// SPDX-License-Identifier: Apache-2.0
// Targets of the tests' jumps. Four-byte instructions: the tests change whole words.

    .option norvc
    .option norelax
    .text

.macro function name
    .balign 8
    .global \name
\name:
.endm

// A function to patch: returns 1 until its first word changes.
function selftest_patchable
    li      a0, 1
    ret

// In: a0 the Holding (interrupt_tests.cpp). Loads all registers from `in`, counts x31 down to 0,
// and stores all to `out`. Uses no stack in between: an interrupt's frame goes below. Enables
// interrupts when all are loaded.
#define HOLD_F 256
#define HOLD_FCSR 512
#define HOLD_BYTES 528

#define FRAME_BYTES 240
#define FRAME_F 120
#define FRAME_FCSR 216
#define FRAME_A0 224
#define FRAME_HOLDING 232

// In: \op \fop, sd fsd or ld fld. Saves or restores the callee-saved registers, gp and tp.
.macro callee_saved op, fop
    \op     ra, 0(sp)
    \op     gp, 8(sp)
    \op     tp, 16(sp)
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11
    \op     s\n, 24 + 8 * \n(sp)
    \fop    fs\n, FRAME_F + 8 * \n(sp)
    .endr
.endm
// All but SP and a0, at a0 + \at.
.macro all_registers op, fop, at
    .irp    n, 1,3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \op     x\n, \at + 8 * \n(a0)
    .endr
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \fop    f\n, \at + HOLD_F + 8 * \n(a0)
    .endr
.endm

function selftest_hold
    addi    sp, sp, -FRAME_BYTES
    callee_saved sd, fsd
    frcsr   t0
    sd      t0, FRAME_FCSR(sp)
    sd      a0, FRAME_HOLDING(sp)

    ld      t0, HOLD_FCSR(a0)
    fscsr   t0
    all_registers ld, fld, 0
    ld      a0, 80(a0)
    csrsi   mstatus, 8                      // a pending interrupt comes here
1:  j       2f                              // each branch ends one of QEMU's translation blocks:
2:  nop                                     // an interrupt may come between any two
    j       3f
3:  addi    x31, x31, -1
    j       4f
4:  bnez    x31, 1b

    sd      a0, FRAME_A0(sp)
    ld      a0, FRAME_HOLDING(sp)
    all_registers sd, fsd, HOLD_BYTES
    ld      t0, FRAME_A0(sp)
    sd      t0, HOLD_BYTES + 80(a0)
    frcsr   t0
    sd      t0, HOLD_BYTES + HOLD_FCSR(a0)

    ld      t0, FRAME_FCSR(sp)
    fscsr   t0
    callee_saved ld, fld
    addi    sp, sp, FRAME_BYTES
    ret

// Changes all registers that the psABI lets a function change, and fcsr: a handler's worst case.
// In: a0 a seed.
function selftest_clobber
    .irp n, 5,6,7,11,12,13,14,15,16,17,28,29,30,31
    addi    x\n, a0, -\n
    .endr
    .irp n, 0,1,2,3,4,5,6,7,10,11,12,13,14,15,16,17,28,29,30,31
    fmv.d.x f\n, a0
    .endr
    li      t0, 1 << 5 | 0x1f               // round towards zero
    fscsr   t0
    ret

// Where crash= faults. Frame: none, like a leaf function.
function selftest_undefined
    unimp
    ret
function selftest_brk
    ebreak
    ret
// All registers except s0 and SP hold 0x1000 + their number at the EBREAK.
function selftest_known_registers
    .irp n, 1,3,4,5,6,7,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    li      x\n, 0x1000 + \n
    .endr
    ebreak
// In: a0 the value of SP for one load. Returns only if the load does not fault.
function selftest_load_from_sp
    mv      t0, sp
    mv      sp, a0
    ld      t1, (sp)
    mv      sp, t0
    ret

// Out: a0 = 0; 1 when its first word is selftest_toggle_branch. NOP and J may change while another
// core executes them.
function selftest_toggle
    nop
    li      a0, 0
    ret
    li      a0, 1                           // the J's target
    ret

// In: a0 the address of a 32-bit word. Spins until the word is not zero.
function selftest_spin
    lw      a1, (a0)
    beqz    a1, selftest_spin
    ret
    .global selftest_spin_end
selftest_spin_end:

// J 12 bytes on, as the first word of selftest_toggle.
    .section .rodata
    .balign 8
    .global selftest_toggle_branch
selftest_toggle_branch:
    .word   0x6f | 12 << 20
