#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a recording to its figures as a module of WebAssembly, without exceptions: it says what `nopscope report` says.

    wasm_test.py BUILD NODE

BUILD: a directory to build the module in. From the environment: NOPSCOPE.
"""

import json
import operator
import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RECORDINGS = ROOT / "tests/conformance"
TIMES = ("total_ns", "self_ns", "min_ns", "mean_ns", "max_ns")
FIGURES = ("name", "calls", *TIMES, *(f"corrected_{name}" for name in TIMES))
NAME = operator.itemgetter("name")
# Debian's packages, by a file of each.
NEEDS = {"wasi-libc": "/usr/lib/wasm32-wasi/libc.a", "libc++-19-dev-wasm32": "/usr/lib/wasm32-wasi/libc++.a",
         "libclang-rt-19-dev-wasm32": "/usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a",
         "lld-19": "/usr/bin/wasm-ld-19", "clang-19": "/usr/bin/clang-19"}


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [package for package, file in NEEDS.items() if not Path(file).exists()]
        if missing:
            raise AssertionError(f"no module of WebAssembly can be built: apt install {' '.join(missing)}")
        source = run(ROOT / "cmake/fetch_source.sh", "libzstd", "lib/zstd.h", "lib").strip()
        run("cmake", "-S", HERE / "module", "-B", BUILD, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/wasm32-wasi.cmake",
            f"-DZSTD={source}/lib")
        run("cmake", "--build", BUILD, "-j1")

    def figures(self, path):
        """The functions' figures, as the module prints them."""
        lines = run(NODE, "--no-warnings", "--experimental-wasi-unstable-preview1", HERE / "run.mjs", BUILD / "figures.wasm",
                    path.parent, f"/{path.name}").splitlines()
        return [dict(zip(FIGURES, [name, *map(json.loads, rest)], strict=True)) for name, *rest in (line.split("\t") for line in lines)]

    def test_figures_are_those_of_report(self):
        seen = 0
        for path in (*sorted(RECORDINGS.glob("recordings/*/*.nsc")), RECORDINGS / "stream.bin"):
            with self.subTest(path.name):
                report = json.loads(run(os.environ["NOPSCOPE"], "report", "--format", "json", path))
                wanted = [{name: row[name] for name in FIGURES} for row in report["functions"]]
                self.assertEqual(sorted(self.figures(path), key=NAME), sorted(wanted, key=NAME))
                seen += len(wanted)
        self.assertGreater(seen, 20)


if __name__ == "__main__":
    BUILD, NODE = Path(sys.argv.pop(1)), sys.argv.pop(1)
    unittest.main()
