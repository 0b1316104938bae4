#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# link_with_names.sh NOPSCOPE LINK...: runs the link command twice. The first image's names go into
# the second, after the text, so no function moves between the two; the script checks that.
set -eu
nopscope=$1
shift
image=
previous=
for word; do
    if [ "$previous" = -o ]; then image=$word; fi
    previous=$word
done

trap 'rm -f "$image"' EXIT
"$@"
"$nopscope" names "$image" -o "$image.names.s"
"$@" "$image.names.s"
if ! "$nopscope" names "$image" | cmp -s - "$image.names.s"; then
    echo "$image: its functions moved or changed names between two links" >&2
    exit 1
fi
trap - EXIT
