# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Gives newlib's hand-written RISC-V functions the patch site that its C functions get from the
# compiler (riscv64_site.h). Works on an unpacked copy of newlib 3.x or 4.x. For build.sh.
#
# Never instrumented: setjmp (it would save the return hook's address as its caller's) and longjmp
# (it does not return to where it was called from).

# shellcheck disable=SC2034  # build.sh reads both
target=riscv64-unknown-elf
machine=riscv

patch_assembly() {
    local file
    for file in memcpy-asm.S memmove.S memset.S strcmp.S; do
        replace "$file" '^(mem|str)\w+:$' "1s/^/$include\n/; s/^((mem|str)\w+):$/\tnopscope_function \1/"
    done
    [ "$(grep -lE '^(mem|str)\w+:' ./*.S | wc -l)" = 0 ] || fail "assembly" "another function"
}
