#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# search.sh SPIN CC MODEL DIRECTORY [-DNAME...]: searches all states of MODEL, in DIRECTORY, which
# it makes. For a failure it prints the steps that lead to it.
set -eu
spin=$1 cc=$2 model=$3 directory=$4
shift 4
mkdir -p "$directory"
cd "$directory"
rm -f ./*.trail
cp "$model" ops.pml
"$spin" "$@" -a ops.pml
"$cc" -O1 -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c
./pan -m1000000 | tee result
if grep -q 'errors: 0' result && ! grep -q 'Search not completed\|max search depth too small' result; then
    echo "search completed"
fi
if [ -f ops.pml.trail ]; then "$spin" "$@" -t -p -g ops.pml | tail -n 60; fi
# The test expects these lines in this order.
grep -h 'assertion violated' result || true
grep -h 'errors:' result
