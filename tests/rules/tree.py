# SPDX-License-Identifier: Apache-2.0
"""The files of a tree, for rules and for tests that copy it. And the end of each rule."""

import os
import subprocess
import sys
from pathlib import Path


def listed(root, *options):
    # A container's user may not be the tree's owner.
    names = subprocess.run(["git", "-C", root, "-c", f"safe.directory={root}", "ls-files", "-z", *options], check=True,
                           capture_output=True).stdout
    return [name for name in os.fsdecode(names).split("\0") if name and os.path.lexists(Path(root) / name)]


def files(root):
    """A clone's tracked files that exist, or (in a source archive) all files except build/."""
    if (root / ".git").exists():
        return sorted(listed(root))
    names = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(name.as_posix() for name in names if name.parts[0] != "build")


def copy(root, destination, *paths):
    """Copies the tracked and the new files of `paths` (none: of the whole clone), as they are now."""
    names = listed(root, "--cached", "--others", "--exclude-standard", "--", *paths)
    destination.mkdir()
    packed = subprocess.run(["tar", "-C", root, "--null", "-T", "-", "-cf", "-"], input=os.fsencode("\0".join(names)),
                            capture_output=True, check=True).stdout
    subprocess.run(["tar", "-C", destination, "-xf", "-"], input=packed, check=True)


def main(breaches, usage, most=1):
    """A rule's main(): the words of the command line, 1 to `most`, are the paths that `breaches` takes."""
    if not 1 <= len(sys.argv[1:]) <= most:
        sys.exit(usage)
    tell(breaches(*map(Path, sys.argv[1:])))


def tell(breaches):
    """Prints all breaches and exits, with status 1 if there is any."""
    found = list(breaches)
    print("\n".join(found) if found else "no breach")
    sys.exit(bool(found))
