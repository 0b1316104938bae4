# SPDX-License-Identifier: Apache-2.0
"""Makes a root with only this machine's Debian release and apt. mmdebstrap makes it once, with the
packages of a dependency list, and a tar of it is kept in $XDG_CACHE_HOME/nopscope. So only the
first call needs the network. It runs as root, or in a user's own namespaces.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "nopscope"
KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
RECIPE = "1"  # change it to make all roots again
IS_ROOT = os.geteuid() == 0
# Without a network, even if the machine has one.
ISOLATED = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc",
            *([] if IS_ROOT else ["--user", "--map-auto", "--map-root-user"])]
SECONDS = 500


class NoCleanRoot(Exception):
    """Says why no clean root can be made, and what to do."""


def names(depends):
    """The packages' names. Of alternatives, the first."""
    return sorted({re.match(r"[a-z0-9.+-]+", one.strip())[0] for one in depends.split(",") if one.strip()})


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def release():
    return re.search(r"^VERSION_CODENAME=(\S+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)[1]


def sources():
    """The Debian archives of this machine's release, in the form of apt's sources.list."""
    listed = said("apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    lines = {f"deb {signed}{uri} {suite} {component}" for origin, uri, suite, component in
             re.findall(r"^(\S+) (\S+) (\S+) (\S+)$", listed, re.MULTILINE)
             if origin == "Debian" and suite in (release(), f"{release()}-updates", f"{release()}-security")}
    if not lines:
        raise NoCleanRoot("no Debian archive of this release in this machine's apt sources: cannot make a clean root")
    return sorted(lines)


def proxies():
    for line in said("apt-config", "dump").splitlines():
        if re.match(r'Acquire::https?::Proxy\S* "[^"]+";$', line):
            yield f"--aptopt={line.rstrip(';')}"


def bootstrap(packages, out):
    """Makes the root's tar `out`. /repository in it has `packages` and their dependencies."""
    download = f'chroot "$1" apt-get install -qq -y --no-install-recommends --download-only {shlex.join(packages)}'
    keep = ('mkdir "$1/repository" && mv "$1"/var/cache/apt/archives/*.deb "$1/repository" && '
            'cd "$1/repository" && dpkg-scanpackages . >Packages 2>/dev/null')
    command = ["mmdebstrap", "--quiet", f"--mode={'root' if IS_ROOT else 'unshare'}", "--variant=apt", "--format=tar",
               "--aptopt=Acquire::Languages \"none\"", "--dpkgopt=force-unsafe-io", *proxies(),
               f"--customize-hook={download}", f"--customize-hook={keep}", release(), str(out), *sources()]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    if done.returncode != 0:
        out.unlink(missing_ok=True)
        raise NoCleanRoot("mmdebstrap makes no clean root: it must run as root, or a user must have namespaces (newuidmap, a range in "
                          f"/etc/subuid and /etc/subgid), and the archive must be reachable the first time\n{done.stderr[-3000:]}")


def root_tar(depends):
    """Returns the root for a package with this dependency list."""
    packages = names(depends)
    key = hashlib.sha256("\n".join([RECIPE, release(), said("dpkg", "--print-architecture"), *packages]).encode()).hexdigest()[:16]
    tar = CACHE / f"clean-root-{key}.tar"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "clean-root.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not tar.exists():
            part = tar.with_suffix(".part.tar")
            bootstrap(packages, part)
            part.rename(tar)
        return tar


def run(tar, script, files):
    """Returns bash's exit status and output, and the files that the script puts into /out. It runs
    as root in the clean root, with `files` in /in and no network. The root does not change."""
    with contextlib.ExitStack() as stack:
        work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nopscope-root-")))
        for name in ("in", "out"):
            (work / name).mkdir()
        for file in files:
            (work / "in" / file.name).write_bytes(file.read_bytes())
        (work / "in/script").write_text(script)
        around = f"""
            set -eu
            cd {shlex.quote(str(work))}
            mkdir root
            trap 'umount -l root/proc root/dev root/in root/out 2>/dev/null || true; rm -rf --one-file-system root' EXIT
            tar -x -p --numeric-owner -f {shlex.quote(str(tar))} -C root --exclude='./dev/*'
            mkdir -p root/in root/out
            mount -t proc proc root/proc
            mount --rbind /dev root/dev
            mount --bind in root/in
            mount --bind out root/out
            echo 'deb [trusted=yes] file:/repository ./' >root/etc/apt/sources.list
            rm -rf root/etc/apt/sources.list.d/*
            env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \\
                chroot root bash -eu /in/script
        """
        try:
            done = subprocess.run([*ISOLATED, "bash", "-c", around], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS, check=False)
        except FileNotFoundError as error:
            raise NoCleanRoot(f"{error}: run ./dev setup") from error
        if "unshare: " in done.stdout:
            raise NoCleanRoot(f"this user has no namespaces of their own, and is not root: {done.stdout}")
        return done.returncode, done.stdout, {file.name: file.read_bytes() for file in (work / "out").iterdir()}
