#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds newlib for firmware: instrumented, with whichever GCC is given. No prebuilt newlib has patch
# sites or landing pads.
#
#   build.sh ARCH CC SOURCE.tar.xz FLAGS...     prints the directory that holds include/ and lib/
#
# ARCH.sh gives newlib's assembly what the compiler gives its C functions. The result stays in a cache outside every build tree, keyed by compiler, source, flags and these
# scripts; the first call takes about a minute, later ones nothing. Two calls at once wait for each
# other.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
usage="usage: build.sh ARCH CC SOURCE FLAGS..."
arch=${1:?$usage}
cc=${2:?$usage}
source=${3:?$usage}
shift 3
flags=$*
prefix=${cc%gcc}

# C as newlib is written: before C23, and with what GCC 14 made errors.
dialect="-std=gnu17 -w -Wno-error=implicit-function-declaration -Wno-error=implicit-int \
-Wno-error=int-conversion -Wno-error=incompatible-pointer-types"
# The compiler's own headers only; never a hosted libc's, nor its macros. A compiler that was built
# with no libc has its limits.h in include-fixed.
freestanding="-nostdinc -U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix"
for headers in include include-fixed; do
    headers=$("$cc" -print-file-name=$headers)
    [ ! -d "$headers" ] || freestanding+=" -isystem $headers"
done

key=$( { "$cc" --version | head -n 1; "$cc" -dumpmachine; cat "$source"; echo "$flags";
         cat "$here/build.sh" "$here/$arch.sh" "$here/${arch}_site.h"; } | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nopscope
result=$cache/newlib-$key
mkdir -p "$cache"

fail() {
    echo "newlib's $1 is not as expected: $2" >&2
    exit 1
}

# For ARCH.sh. replace FILE PATTERN SED_SCRIPT: PATTERN must be in FILE, SED_SCRIPT must change it. So a newlib that looks
# different fails here and not at run time.
replace() {
    grep -qE -- "$2" "$1" || fail "$1" "no line like '$2'"
    sed -E -i.orig -- "$3" "$1"
    cmp -s "$1" "$1.orig" && fail "$1" "'$3' changed nothing"
    rm -f "$1.orig"
}
include='#include "nopscope_site.h"'
# shellcheck source=cmake/newlib/arm64.sh
. "$here/$arch.sh"

patch() {
    cp "$here/${arch}_site.h" nopscope_site.h
    patch_assembly
}

build() {
    local work=$result.work src
    rm -rf "$work"
    mkdir -p "$work/src" "$work/build"
    tar -xf "$source" -C "$work/src" --strip-components=1
    src=$work/src
    (cd "$src/newlib/libc/machine/$machine" && patch)
    # Debug information names files as newlib/libc/..., wherever this was built.
    local map="-ffile-prefix-map=$src/= -ffile-prefix-map=$work/build/="
    cd "$work/build"
    CC_FOR_TARGET="$cc $freestanding" AR_FOR_TARGET=${prefix}ar AS_FOR_TARGET=${prefix}as \
    RANLIB_FOR_TARGET=${prefix}ranlib NM_FOR_TARGET=${prefix}nm LD_FOR_TARGET=${prefix}ld \
    CFLAGS_FOR_TARGET="-O2 -g $dialect $flags $map" \
    "$src/configure" --target="$target" --prefix=/ \
        --disable-multilib --disable-libgloss --disable-nls --disable-newlib-supplied-syscalls \
        --disable-newlib-multithread --enable-newlib-io-c99-formats --enable-newlib-io-long-long \
        --disable-newlib-wide-orient --disable-newlib-register-fini MAKEINFO=true
    make -j"$(nproc)" all-target-newlib MAKEINFO=true
    make install-target-newlib MAKEINFO=true DESTDIR="$work/out"
    [ -f "$work/out/$target/lib/libc.a" ]
    mv "$work/out/$target" "$result"
    cd "$cache"
    rm -rf "$work"
}

exec 9>"$result.lock"
flock 9
if [ ! -f "$result/lib/libc.a" ]; then
    echo "building newlib ($(basename "$source"), $("$cc" --version | head -n 1)): about a minute" >&2
    set +e  # inside a condition the steps of build() would not stop at an error
    (set -e; build) >"$result.log" 2>&1
    status=$?
    set -e
    if [ "$status" != 0 ]; then
        tail -n 25 "$result.log" >&2
        echo "newlib could not be built; all of it: $result.log" >&2
        exit 1
    fi
fi
echo "$result"
