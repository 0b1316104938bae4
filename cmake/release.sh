# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev release: builds a version's source archive twice, compares, and tags. docs/versions.md.

release_out=build/release

# The version in CMakeLists.txt.
tree_version() { sed -n 's/^project(nopscope VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt; }

# changelog_section VERSION: prints its lines in CHANGELOG.md, without the heading.
changelog_section() {
    awk -v head="## [$1]" 'index($0, head) == 1 { inside = 1; next } /^## / || /^\[/ { inside = 0 } inside' CHANGELOG.md
}

refuse_release() {
    say "no release: $*"
    exit 1
}

# release_checks VERSION: ends with exit status 1 at the first failed check.
release_checks() {
    local version=$1 branch date changes
    branch=$(git symbolic-ref --quiet --short HEAD || echo "no branch")
    [ "$branch" = main ] || refuse_release "this is $branch; check out main first"
    changes=$(git status --porcelain)
    [ -z "$changes" ] || refuse_release "there are changes that are not committed: $(head -n 1 <<<"$changes"); commit or stash them"
    [ "$(tree_version)" = "$version" ] ||
        refuse_release "CMakeLists.txt says version $(tree_version), not $version: set it there and in tracer/include/nopscope/version.h, and commit"
    grep -qx "#define NOPSCOPE_VERSION \"$version\"" tracer/include/nopscope/version.h ||
        refuse_release "tracer/include/nopscope/version.h says $(sed -n 's/^#define NOPSCOPE_VERSION //p' tracer/include/nopscope/version.h), not \"$version\": set its four values, and commit"
    date=$(sed -n "s/^## \[${version//./\\.}\] - \([0-9]\{4\}-[0-9]\{2\}-[0-9]\{2\}\)$/\1/p" CHANGELOG.md)
    [ -n "$date" ] || refuse_release "CHANGELOG.md has no line '## [$version] - YYYY-MM-DD': rename '## [Unreleased]', and commit"
    [ -n "$(changelog_section "$version" | tr -d '[:space:]')" ] || refuse_release "CHANGELOG.md says nothing under '## [$version]'"
    ! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null ||
        refuse_release "the tag v$version exists: a version that is out does not change; take the next number"
}

# source_archive VERSION DIRECTORY: the archive of HEAD, with the same bytes each time.
source_archive() {
    git -c tar.umask=0022 archive --format=tar --prefix="nopscope-$1/" HEAD | xz -6 -T1 >"$2/nopscope-$1.tar.xz"
}

# build_archive VERSION ARCHIVE WORK OUT: builds packages and bill of materials below WORK, without
# ccache. && joins the steps: quiet() calls it where a failure does not end the shell.
build_archive() {
    local source=$3/nopscope-$1
    local flags=-ffile-prefix-map=$source=/usr/src/nopscope-$1
    mkdir -p "$3" "$4" && tar -C "$3" -xf "$2" &&
        env -u CMAKE_C_COMPILER_LAUNCHER -u CMAKE_CXX_COMPILER_LAUNCHER cmake -S "$source" --preset host -DNOPSCOPE_TESTS=OFF \
            "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags" "-DCMAKE_ASM_FLAGS=$flags" &&
        CCACHE_DISABLE=1 cmake --build "$source/build/host" -j "$(nproc)" &&
        cpack --config "$source/build/host/CPackConfig.cmake" -B "$4" &&
        rm -rf "$4/_CPack_Packages" && cp "$source/build/host/nopscope.spdx.json" "$4"
}

# compare_builds ONE OTHER: prints the files that differ or are missing. Exit status 1: some do.
compare_builds() {
    local name status=0
    while read -r name; do
        if ! cmp -s "$1/$name" "$2/$name"; then
            say "not the same in both builds: $name"
            status=1
        fi
    done < <({ (cd "$1" && find . -type f -printf '%P\n'); (cd "$2" && find . -type f -printf '%P\n'); } | sort -u)
    [ -n "$(find "$1" -type f -print -quit)" ] || { say "nothing was built in $1"; status=1; }
    return "$status"
}

# build_twice VERSION: fills build/release/.
build_twice() {
    local version=$1 out=$PWD/$release_out
    rm -rf "$out"
    mkdir -p "$out"
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
    export SOURCE_DATE_EPOCH
    source_archive "$version" "$out"
    say "building $version from its source archive, twice"
    quiet release-one build_archive "$version" "$out/nopscope-$version.tar.xz" "$out/one" "$out/out-one"
    TZ=Pacific/Chatham quiet release-other build_archive "$version" "$out/nopscope-$version.tar.xz" "$out/the-other-directory" "$out/out-other"
    compare_builds "$out/out-one" "$out/out-other" ||
        refuse_release "the two builds differ; they are in $release_out/one and $release_out/the-other-directory"
    mv "$out"/out-one/* "$out"
    rm -rf "$out/one" "$out/the-other-directory" "$out/out-one" "$out/out-other"
    changelog_section "$version" >"$out/changes.md"
    (cd "$out" && sha256sum -- *) >"$out.sums"
    mv "$out.sums" "$out/SHA256SUMS"
    say "both builds are equal; all is in $release_out/:"
    sed 's/^\(.\{12\}\)[^ ]*/\1/' "$out/SHA256SUMS" >&2
}

release() {
    local version='' tag=yes checks=yes word
    for word in "$@"; do
        case $word in
        --check) tag=no ;;
        --build-only) tag=no checks=no ;;
        -h | --help) usage; exit ;;
        -*) say "./dev release [--check] VERSION, or --build-only: no option $word"; exit 2 ;;
        *) version=$word ;;
        esac
    done
    [ -n "$version" ] || [ "$checks" = yes ] || version=$(tree_version)
    if ! [[ $version =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]]; then
        say "which version? ./dev release [--check] 0.2.0: three numbers, not '$version'"
        exit 2
    fi
    if [ "$checks" = yes ]; then
        release_checks "$version"
        say "not looked at here: the tests. Run ./dev test and ./dev proof on this commit first"
    fi
    setup demo
    build_twice "$version"
    [ "$tag" = yes ] || return 0
    # Signed if git's tag.gpgSign says so.
    git tag -a "v$version" -m "nopscope $version"
    say "tagged v$version; to publish: git push origin main v$version, and $release_out/*"
}
