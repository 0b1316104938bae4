# SPDX-License-Identifier: Apache-2.0
"""The files of a tree, for rules and for tests that copy it; and how a rule ends."""

import os
import subprocess
import sys
from pathlib import Path


def listed(root, *options):
    # A container's user may be another than the tree's.
    names = subprocess.run(["git", "-C", root, "-c", f"safe.directory={root}", "ls-files", "-z", *options], check=True,
                           capture_output=True).stdout
    return [name for name in os.fsdecode(names).split("\0") if name and os.path.lexists(Path(root) / name)]


def files(root):
    """Names: of a clone the tracked files that are there, else (a source archive) all but build/."""
    if (root / ".git").exists():
        return sorted(listed(root))
    names = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(name.as_posix() for name in names if name.parts[0] != "build")


def copy(root, destination, *paths):
    """Of a clone what git knows of `paths` (none: of all), and what it would be told of, as it is now."""
    names = listed(root, "--cached", "--others", "--exclude-standard", "--", *paths)
    destination.mkdir()
    packed = subprocess.run(["tar", "-C", root, "--null", "-T", "-", "-cf", "-"], input=os.fsencode("\0".join(names)),
                            capture_output=True, check=True).stdout
    subprocess.run(["tar", "-C", destination, "-xf", "-"], input=packed, check=True)


def tell(breaches):
    """Prints each and ends: exit status 1 if there is any."""
    found = list(breaches)
    print("\n".join(found) if found else "no breach")
    sys.exit(bool(found))
