# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For ./dev: installs what the machine must have; with install=no it only lists what is missing.

qemu_package=qemu-system-arm
qemu_at_least=1:9.0

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

installed_version() {
    dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p'
}

qemu_new_enough() { dpkg --compare-versions "$1" ge "$qemu_at_least"; }

# Prints the packages of cmake/packages.txt that are not installed or too old.
missing_packages() {
    local package version
    while read -r package; do
        version=$(installed_version "$package")
        # npm may be installed with node, without a package.
        if [ "$package" = npm ] && command -v npm >/dev/null; then continue; fi
        if [ -z "$version" ]; then
            echo "$package"
        elif [ "$package" = "$qemu_package" ] && ! qemu_new_enough "$version"; then
            echo "$package"
        fi
    done < <(sed 's/#.*//; /^\s*$/d' cmake/packages.txt)
}

# Makes a new enough QEMU known to apt: from this release's backports, which the machine's mirror
# has beside the release.
enable_backports() {
    local release mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=
    local list=/etc/apt/sources.list.d/nopscope-backports.list
    release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    if apt-get indextargets --format '$(RELEASE)' 'Created-By: Packages' |
            grep -qx "$release-backports"; then
        return
    fi
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
             sed -n "s/^$release //p" | head -n 1)
    if [ -z "$mirror" ]; then
        say "cannot tell this machine's mirror of $release: QEMU 9.0 or newer must be installed by hand"
        exit 1
    fi
    [ -f "$keyring" ] && signed="[signed-by=$keyring] "
    say "enabling $release-backports on this machine's own mirror, for QEMU 9.0 or newer: $list"
    as_root tee "$list" >/dev/null <<END
# Written by nopscope's ./dev setup, for $qemu_package >= 9.0.
deb ${signed}$mirror $release-backports main
END
    as_root apt-get update -q
}

install_qemu() {
    local candidate release
    candidate=$(apt-cache policy "$qemu_package" | sed -n 's/^  Candidate: //p')
    if qemu_new_enough "$candidate"; then
        as_root apt-get install -y -q --no-install-recommends "$qemu_package"
        return
    fi
    enable_backports
    release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    as_root apt-get install -y -q --no-install-recommends -t "$release-backports" "$qemu_package"
}

install_packages() {
    local others
    export DEBIAN_FRONTEND=noninteractive
    say "installing: $*"
    as_root apt-get update -q
    others=$(printf '%s\n' "$@" | grep -vx "$qemu_package" || true)
    # shellcheck disable=SC2086  # one word a package
    [ -z "$others" ] || as_root apt-get install -y -q --no-install-recommends $others
    if printf '%s\n' "$@" | grep -qx "$qemu_package"; then install_qemu; fi
}

setup() {
    local missing
    if ! command -v dpkg-query >/dev/null; then
        say "this is no Debian: install by hand what cmake/packages.txt names"
        exit 3
    fi
    missing=$(missing_packages)
    if [ "$install" = no ]; then
        [ -f "$cache/lua5.4/src/lua.h" ] || missing+=$'\n'"lua5.4 (its source)"
        [ -z "$missing" ] && return
        say "missing packages:"
        printf '%s\n' "$missing" | sed '/^$/d'
        exit 3
    fi
    if [ -n "$missing" ]; then
        # shellcheck disable=SC2086  # one word a package
        install_packages $missing >&2
    fi
    firmware/demo/fetch_lua.sh >/dev/null
}
