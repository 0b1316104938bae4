# SPDX-License-Identifier: Apache-2.0
"""What ./dev test and ./dev proof share: the parts, runs of ctest, and CPU seconds."""

import dataclasses
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PARTS = tomllib.loads((ROOT / "tests/proofs.toml").read_text())
MOVED = tomllib.loads((ROOT / "tests/moved.toml").read_text())
BUDGET = tomllib.loads((ROOT / "tests/budget.toml").read_text())


# Tests that compile sources again take the objects from a separate cache, which also keeps those of the last run.
COMPILER_CACHE = {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_NAMESPACE": "nopscope",
                  "CCACHE_IGNOREOPTIONS": "-Werror", "CCACHE_DEPEND": "1", "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}


BOARDS = list(dict.fromkeys(machine["board"] for machine in tomllib.loads((ROOT / "hal/boards/machines.toml").read_text()).values()))


def say(text=""):
    print(text, flush=True)


def any_of(names):
    return "^(" + "|".join(map(re.escape, names)) + ")$"


def pattern_of(part):
    """Of the tests of a part of ./dev proof; None: it has none."""
    return any_of(MOVED) if part == "moved" and MOVED else PARTS[part].get("tests")


def is_proof(name):
    """Whether ./dev test leaves it out."""
    return any(re.search(pattern, name) for part in PARTS if part != "coverage" and (pattern := pattern_of(part)))


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(command, **options):
    """Runs a command in the tree. Returns (exit status, CPU seconds)."""
    before = cpu_of_children()
    status = subprocess.run(command, cwd=ROOT, check=False, **options).returncode
    return status, cpu_of_children() - before


def reference():
    """CPU seconds of a fixed compilation, now: the unit of tests/budget.toml. A machine's speed may change within minutes."""
    source = ROOT / "tests/budget/reference.cpp"
    return min(measured(["c++", "-std=c++20", "-O2", "-c", source, "-o", "/dev/null"])[1] for _ in range(2))


def build(preset, *targets):
    """Returns CPU seconds."""
    status, seconds = measured(["./dev", "build", preset, *targets])
    if status != 0:
        sys.exit(status)
    return seconds


@dataclasses.dataclass(frozen=True)
class Test:
    name: str
    passed: bool
    wall: float
    cpu: float
    output: str

    @property
    def group(self):
        return self.name.split(".")[0]


def cpu_of(name, wall):
    """As tests/launch.py noted it. A test that a time limit ended has none."""
    try:
        return float((BUILD / "cpu" / name).read_text())
    except (OSError, ValueError):
        return wall


def listed(preset):
    """{name: number} of a build's tests."""
    said = subprocess.run(["ctest", "--test-dir", BUILD / preset, "-N"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name: int(number) for number, name in re.findall(r"Test +#(\d+): (\S+)", said)}


def ctest(preset, is_chosen, *options, jobs=None):
    """Runs the tests of a build whose names are chosen. Returns a list of Test. Prints a line for each, and the output of those
    that fail. The choice is made here, since ctest's regular expressions know too little."""
    numbers = [number for name, number in listed(preset).items() if is_chosen(name)]
    if not numbers:
        return []
    for name in ("cpu", "failed"):
        (BUILD / name).mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(suffix=".xml") as results:
        subprocess.run(["ctest", "--test-dir", BUILD / preset, "--output-on-failure", "--output-junit", results.name,
                        "--test-output-size-passed", "65536", "-j", str(jobs or os.cpu_count()), "-I", ",".join(["0,0,0", *map(str, numbers)]), *options],
                       cwd=ROOT, env=os.environ | COMPILER_CACHE, check=False)
        root = xml.etree.ElementTree.parse(results.name).getroot()
    tests = []
    for case in root.iter("testcase"):
        name, wall = case.get("name"), float(case.get("time"))
        tests.append(Test(name, case.get("status") == "run", wall, cpu_of(name, wall), case.findtext("system-out") or ""))
    return tests
