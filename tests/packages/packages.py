# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian packages of a host build for a test."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))
import cli  # noqa: E402

cli.HANG_SECONDS = 300  # a library is compiled, and lintian and apt run
EPOCH = 1790000000  # any time


def make(directory, **environment):
    """Returns (nopscope, nopscope-target-source), made by the command in docs/install.md."""
    cli.run("cpack", "--config", cli.HOST_BUILD / "CPackConfig.cmake", "-B", directory,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), **environment})
    command, = directory.glob("nopscope_*.deb")
    target, = directory.glob("nopscope-target-source_*_all.deb")
    return command, target


def field(deb, name):
    return cli.run("dpkg-deb", "--field", deb, name).stdout.strip()
