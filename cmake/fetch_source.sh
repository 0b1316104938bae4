#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch_source.sh PACKAGE FILE [PART]: prints the directory of an unmodified third-party program, the one that has
# FILE. It comes from the Debian source package, through apt and its signatures, from the archive this machine
# installs its own packages from; kept in the cache, so only the first call needs the network. PART: the one
# directory of it that is kept.
set -euo pipefail
package=$1 file=$2 part=${3:-}

cache=${XDG_CACHE_HOME:-$HOME/.cache}/nopscope
result=$cache/$package
mkdir -p "$cache"
exec 9>"$result.lock"
flock 9
if [ -f "$result/$file" ]; then
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
    echo "no Debian archive in this machine's apt sources: cannot fetch $package" >&2
    exit 1
fi

apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
     -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work" -o APT::Sandbox::User=
     -o Acquire::Languages=none)
"${apt[@]}" update >&2
cd "$work"
if ! "${apt[@]}" source --download-only "$package" >&2; then
    echo "this machine's archive has no source package $package (a mirror of binaries only?)" >&2
    exit 1
fi
mkdir source
# The author's own archive; Debian's changes to it (packaging) are a file of their own.
tar -xf "$package"_*.orig.tar.* -C source --strip-components=1 ${part:+--wildcards "*/$part/*"}
[ -f "source/$file" ]
rm -rf "$result"
mv source "$result"
echo "$result"
