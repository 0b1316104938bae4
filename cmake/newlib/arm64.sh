# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Gives newlib's hand-written aarch64 functions what its C functions get from the compiler: a
# landing pad and a patch site (arm64_site.h). Works on an unpacked copy of newlib 3.x or 4.x. For
# build.sh.
#
# Never instrumented: setjmp (it would save the return hook's address as its caller's) and longjmp
# (it does not return to where it was called from).
# Never assembly: rawmemchr (it calls strlen with live values in x14 and x15, which a hook may use).

# shellcheck disable=SC2034  # build.sh reads both
target=aarch64-none-elf
machine=aarch64

# Newer newlib: one set of macros for all files.
patch_asmdefs() {
    replace asmdefs.h '^#define L\(l\)' "s/^(#define L\(l\).*)/\1\n$include/"
    replace asmdefs.h '^#define ENTRY_ALIGN' \
        '/^#define ENTRY_ALIGN/,/^$/c\
#define ENTRY_ALIGN(name, alignment)	\\\
  .align alignment		    SEP \\\
  nopscope_function name	    SEP \\\
  .cfi_startproc\
'
    # An alias in front of the aligned entry would point at the slot: put it on the entry.
    replace memcpy.S '^ENTRY_ALIAS \(memmove\)' \
        '/^ENTRY_ALIAS \(memmove\)/d; s/^(END \(memcpy\))/\1\n\t.global memmove\n\t.set memmove, memcpy/'
    [ "$(grep -l '^ENTRY_ALIAS' ./*.S | wc -l)" = 0 ] || fail "assembly" "another ENTRY_ALIAS"
    replace setjmp.S '^ENTRY \(' 's/^ENTRY \((\w+)\)/nopscope_plain_function \1\n\t.cfi_startproc/'
}

# Older newlib: the same macro def_fn in each file.
patch_def_fn() {
    local file
    for file in ./*.S; do
        grep -q '^def_fn' "$file" || continue
        replace "$file" '^\\f:$' 's/^\\f:$/\tnopscope_function \\f/'
        replace "$file" '\.macro def_fn' "0,/\.macro def_fn/s//$(sed 's/[#"]/\\&/g' <<<"$include")\n\t.macro def_fn/"
        grep -qE '^\s*\.p2align \\p2align' "$file" || fail "$file" "def_fn does not align"
    done
    replace setjmp.S '^(setjmp|longjmp):$' 's/^(setjmp|longjmp):$/\tnopscope_plain_function \1/'
    replace setjmp.S '^#define GPR_LAYOUT' "0,/^#define GPR_LAYOUT/s//$(sed 's/[#"]/\\&/g' <<<"$include")\n&/"
}

patch_assembly() {
    local file
    if [ -f asmdefs.h ]; then patch_asmdefs; else patch_def_fn; fi

    # `br` to a return address needs a `bti j` there; `ret` needs nothing.
    replace setjmp.S '^\s*br\s+x30' 's/^(\s*)br\s+x30/\1ret/'

    # Both files choose by the same condition: take the C one.
    for file in rawmemchr.S rawmemchr-stub.c; do
        replace "$file" '^#\s*if .*__OPTIMIZE_SIZE__' 's/^#\s*if .*__OPTIMIZE_SIZE__.*/#if 1/'
    done
}
