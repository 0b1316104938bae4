# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For ./dev: installs what the machine must have; with install=no it only lists what is missing.

qemu_packages='qemu-system-arm
qemu-system-riscv'
qemu_at_least=1:9.0

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

is_qemu() { grep -qxF "$1" <<<"$qemu_packages"; }
qemu_new_enough() { dpkg --compare-versions "$1" ge "$qemu_at_least"; }

# packages_of SECTION: prints the packages of cmake/packages.txt up to the end of SECTION.
packages_of() {
    awk -v last="[$1]" '/^\[/ { if (done) exit; done = $0 == last; next } NF && !/^#/' cmake/packages.txt
}

# missing_packages SECTION: prints the packages that are not installed or too old.
missing_packages() {
    local package version
    local -A installed=()
    while read -r package version; do
        installed[$package]=$version
    done < <(dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' | sed -n 's/^installed //p')
    while read -r package; do
        version=${installed[$package]:-}
        # node may be installed without a package.
        if [ "$package" = nodejs ] && command -v node >/dev/null; then continue; fi
        if [ -z "$version" ] || { is_qemu "$package" && ! qemu_new_enough "$version"; }; then
            echo "$package"
        fi
    done < <(packages_of "$1")
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
# Written by nopscope's ./dev setup, for QEMU >= 9.0.
deb ${signed}$mirror $release-backports main
END
    as_root apt-get update -q
}

# install_qemu PACKAGE. With all that it needs from backports, too: qemu-system-riscv asks for their opensbi.
install_qemu() {
    local candidate release
    candidate=$(apt-cache policy "$1" | sed -n 's/^  Candidate: //p')
    if [[ $candidate != "(none)" && $candidate != *~bpo* ]] && qemu_new_enough "$candidate"; then
        as_root apt-get install -y -q --no-install-recommends "$1"
        return
    fi
    enable_backports
    release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    as_root apt-get install -y -q --no-install-recommends -t "$release-backports" "$1"
}

install_packages() {
    local others package
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -q
    others=$(printf '%s\n' "$@" | grep -vxF "$qemu_packages" || true)
    # shellcheck disable=SC2086  # one word a package
    [ -z "$others" ] || as_root apt-get install -y -q --no-install-recommends $others
    for package; do
        if is_qemu "$package"; then install_qemu "$package"; fi
    done
}

# setup [SECTION]: demo, riscv, test or proof (all).
setup() {
    local missing
    is_one_of "${1:-proof}" demo riscv test proof || { say "no such section: '$1' (demo, riscv, test, proof)"; exit 2; }
    if ! command -v dpkg-query >/dev/null; then
        say "this is no Debian: install by hand what cmake/packages.txt names"
        exit 3
    fi
    missing=$(missing_packages "${1:-proof}")
    if [ "$install" = no ]; then
        [ -f "$cache/lua5.4/src/lua.h" ] || missing+=$'\n'"lua5.4 (its source)"
        [ -z "$missing" ] && return
        say "missing packages:"
        printf '%s\n' "$missing" | sed '/^$/d'
        exit 3
    fi
    if [ -n "$missing" ]; then
        say "installing $(wc -l <<<"$missing") packages and what they need: ${missing//$'\n'/ }"
        # shellcheck disable=SC2086  # one word a package
        step packages install_packages $missing
    fi
    [ -f "$cache/lua5.4/src/lua.h" ] || step lua firmware/demo/fetch_lua.sh
}
