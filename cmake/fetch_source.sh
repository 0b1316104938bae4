#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch_source.sh PACKAGE FILE [PART]: prints the directory with the unmodified sources of a
# third-party program, in which FILE is. apt fetches and verifies the Debian source package, from
# the archive of this machine's packages. A cache keeps it: only the first call needs the network.
# PART: the only directory to keep.
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

# The source parts of this machine's Debian archives.
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
# The newest version that the archive has: a mirror may lag behind its list of security updates.
for version in $(apt-cache "${apt[@]:2}" showsrc --only-source "$package" | sed -n 's/^Version: //p' | sort -rVu); do
    if "${apt[@]}" source --download-only "$package=$version" >&2; then break; fi
done
archive=$(find . -maxdepth 1 -name "${package}_*.orig.tar.*" ! -name '*.asc')
if [ -z "$archive" ]; then
    echo "this machine's archive has no source package $package (a mirror of binaries only?)" >&2
    exit 1
fi
mkdir source
# The author's archive. Debian's changes (packaging) are in another file.
tar -xf "$archive" -C source --strip-components=1 ${part:+--wildcards "*/$part/*"}
[ -f "source/$file" ]
rm -rf "$result"
mv source "$result"
echo "$result"
