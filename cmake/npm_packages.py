#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the packages of a package-lock.json into BUILD/node_modules/.

    npm_packages.py PACKAGE_LOCK BUILD

It does what `npm ci --ignore-scripts` would do, without npm, for which Debian installs 349 packages. It fetches each archive
from the npm registry once a user (~/.cache/nopscope/npm/), compares it with the checksum in PACKAGE_LOCK and leaves out
optional packages for other machines. No script of a package runs. npm_config_registry names another registry.
Exit status 1: an archive cannot be fetched, or is not the one that PACKAGE_LOCK names.
"""

import base64
import concurrent.futures
import hashlib
import http.client
import io
import json
import os
import pathlib
import platform
import shutil
import sys
import tarfile
import urllib.request

REGISTRY = os.environ.get("npm_config_registry", "https://registry.npmjs.org/").rstrip("/")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "nopscope/npm"
CPUS = {"x86_64": "x64", "aarch64": "arm64", "i686": "ia32", "armv7l": "arm"}  # npm's names
TRIES = 3


def is_for_here(package):
    cpu = CPUS.get(platform.machine(), platform.machine())
    return cpu in package.get("cpu", [cpu]) and "linux" in package.get("os", ["linux"])


def fetched(url):
    for attempt in range(TRIES):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.read()
        except (OSError, http.client.HTTPException) as error:
            if attempt == TRIES - 1:
                raise SystemExit(f"npm_packages.py: cannot fetch {url}: {error}. Connect to the network, or set npm_config_registry "
                                 "to a registry that this machine reaches") from error


def archive(name, package):
    algorithm, _, digest = package["integrity"].partition("-")

    def is_right(content):
        return base64.b64encode(hashlib.new(algorithm, content).digest()).decode() == digest

    kept = CACHE / f"{name.replace('/', '-')}-{package['version']}.tgz"
    if kept.exists() and is_right(content := kept.read_bytes()):
        return content
    url = f"{REGISTRY}/{name}/-/{name.rpartition('/')[2]}-{package['version']}.tgz"
    content = fetched(url)
    if not is_right(content):
        raise SystemExit(f"npm_packages.py: {url} has another checksum than the package-lock.json: do not use it")
    CACHE.mkdir(parents=True, exist_ok=True)
    new = kept.with_suffix(f".{os.getpid()}")  # another build may do the same
    new.write_bytes(content)
    new.replace(kept)
    return content


def unpack(content, to):
    with tarfile.open(fileobj=io.BytesIO(content)) as files:
        for member in files:
            path = pathlib.PurePosixPath(member.name)
            if member.isfile() and ".." not in path.parts:
                target = to.joinpath(*path.parts[1:])  # the first part is "package"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(files.extractfile(member).read())
                target.chmod(0o755 if member.mode & 0o100 else 0o644)


def main():
    lock, build = map(pathlib.Path, sys.argv[1:])
    packages = {path: package for path, package in json.loads(lock.read_text())["packages"].items() if path and is_for_here(package)}
    shutil.rmtree(build / "node_modules", ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        contents = pool.map(lambda item: archive(item[0].rpartition("node_modules/")[2], item[1]), packages.items())
        for path, content in zip(packages, contents):
            unpack(content, build / path)


if __name__ == "__main__":
    main()
