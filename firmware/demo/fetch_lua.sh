#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the directory of an unmodified Lua 5.4 (the one with src/lua.h). It comes from the Debian
# source package lua5.4, through apt and its signatures, from the archive this machine installs its
# own packages from; kept in the cache, so only the first call needs the network.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/nopscope
result=$cache/lua5.4
mkdir -p "$cache"
exec 9>"$result.lock"
flock 9
if [ -f "$result/src/lua.h" ]; then
    echo "$result"
    exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/archives/partial"

# The machine's own Debian archives, their source halves.
apt-get indextargets --format '$(ORIGIN) deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' |
    sed -n 's/^Debian deb-src /deb-src /p' | sort -u > "$work/sources.list"
if [ ! -s "$work/sources.list" ]; then
    echo "no Debian archive in this machine's apt sources: cannot fetch Lua (lua5.4)" >&2
    exit 1
fi

apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
     -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work" -o APT::Sandbox::User=
     -o Acquire::Languages=none)
"${apt[@]}" update >&2
cd "$work"
if ! "${apt[@]}" source --download-only lua5.4 >&2; then
    echo "this machine's archive has no source package lua5.4 (a mirror of binaries only?)" >&2
    exit 1
fi
mkdir lua
# The author's own archive; Debian's changes to it (packaging) are a file of their own.
tar -xf lua5.4_*.orig.tar.* -C lua --strip-components=1
[ -f lua/src/lua.h ]
rm -rf "$result"
mv lua "$result"
echo "$result"
