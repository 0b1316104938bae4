# SPDX-License-Identifier: Apache-2.0
"""What kills mutants. A killer is a line of words:

    unit FILE FILTER          tests/unit/tracer/FILE.cpp, compiled with the mutant before the source;
                              runs the tests that FILTER (a gtest filter) selects
    host FILE FILTER [SOURCE]...  tests/unit/host/FILE.cpp with the host build's library. A mutated header
                              is compiled with these sources from host-tools/, or with the test itself
    selftest GROUP MACHINE    that group of the selftest image, in QEMU
    image NAME MACHINE [WORD]...  an image that must exit with status 0, one instruction a nanosecond
    e2e NAME MACHINE          the image's recording against the oracle's counts (tests/e2e/oracle_test.py)
    coherence NAME MACHINE CORES [WORD]...  the image under the coherence oracle (../oracle/coherence.py)

A killer's run passes (None), fails (a few words say what failed), or the mutant cannot be built
(CannotBuild). A timeout is a failure, too: it detects a mutant that hangs.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from mutants import ROOT

sys.path.append(str(ROOT / "tests/e2e"))
from qemu import qemu_command  # noqa: E402

# A run hangs if it takes this many times as long as without a mutant, and these seconds more.
PATIENCE = 10
PATIENCE_SECONDS = 10
UNMUTATED_SECONDS = 300
patience = {}  # by killer, in seconds
# The sources of the firmware.
FIRMWARE = ("CMakeLists.txt", "cmake", "tracer", "hal", "linker", "firmware", "tests/firmware")


class CannotBuild(Exception):
    """Contains the compiler's message."""


def run(command, seconds):
    """Returns (exit status, or None after a timeout; output). Each run has its own directory."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                  env=os.environ | {"TEST_TMPDIR": directory + "/"}, timeout=seconds)
            return done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as late:
            return None, (late.stdout or b"").decode(errors="replace")


def run_killer(killer, command):
    """Runs a killer's command. The first run, without a mutant, measures how long it takes."""
    began = time.monotonic()
    result = run(command, patience.get(killer, UNMUTATED_SECONDS))
    patience.setdefault(killer, PATIENCE_SECONDS + PATIENCE * (time.monotonic() - began))
    return result


def build(command):
    status, output = run(command, 600)
    if status != 0:
        lines = output.splitlines()
        raise CannotBuild("\n".join([line for line in lines if "error" in line.lower()][:5] or lines[-5:]))


class Units:
    """The tracer's unit tests. Each test file is a separate program."""

    TESTS = "tests/unit/tracer"
    LIBRARIES = ("gtest/gtest.h",)  # their headers cost more than our code, so they are compiled once
    COMPILER = ["clang++-19", "-std=c++20", "-O0", "-w", "-fpch-instantiate-templates"]
    OPTIONS = ["-DNOPSCOPE_ENABLED=1", "-DNOPSCOPE_RING_LOG2=13", "-DNOPSCOPE_SHADOW_FRAMES=64", f'-DNOPSCOPE_SOURCE_DIR="{ROOT}"',
               '-DNOPSCOPE_ARM64="aarch64-linux-gnu-"']

    def __init__(self, directory):
        self.directory = directory
        self.directory.mkdir(parents=True, exist_ok=True)
        self.programs = {}  # without a mutant
        self.locks = {}     # a lock for each program and for each shared file, by name

    def compile(self, source, overlay):
        """Returns the object file. All killers of a mutant use the same one."""
        def made():
            overlay.mkdir(parents=True, exist_ok=True)
            to = overlay / f"{source.stem}.o"
            build([*self.COMPILER, "-include", str(self.once("headers", self.headers)), *self.includes(overlay),
                   *self.includes(ROOT), *self.OPTIONS, "-c", str(source), "-o", str(to)])
            return to
        return self.once((source, overlay), made)

    def headers(self):
        header = self.directory / "libraries.hpp"
        header.write_text("".join(f"#include <{name}>\n" for name in self.LIBRARIES))
        build([*self.COMPILER, *self.OPTIONS, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
        return header

    @staticmethod
    def includes(root):
        return ["-I", str(root), "-I", str(root / "tracer/include")]

    def test_source(self, name):
        return ROOT / self.TESTS / f"{name}.cpp"

    def once(self, key, make):
        with self.locks.setdefault(key, threading.Lock()):
            if key not in self.programs:
                self.programs[key] = make()
        return self.programs[key]

    def test_object(self, name):
        return self.compile(self.test_source(name), self.directory / "unmutated")

    def link(self, name, objects, directory):
        build([*self.COMPILER, "-o", str(directory / name), *map(str, objects), "-lgtest_main", "-lgtest", "-pthread"])
        return directory / name

    def unmutated(self, name):
        return self.once(name, lambda: self.link(name, self.objects(name), self.directory / "unmutated"))

    def objects(self, name):
        return [self.test_object(name), self.test_object("stubs")]

    def mutated(self, name, mutant, _sources):
        overlay = self.overlay(mutant)
        return self.link(name, [self.compile(self.test_source(name), overlay), self.test_object("stubs")], overlay)

    def overlay(self, mutant):
        """Returns a directory that contains only the mutated file."""
        overlay = self.directory / mutant.name
        changed = overlay / mutant.file
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(mutant.source(), encoding="utf-8")
        return overlay

    def forget(self, mutant):
        """Removes what was built for the mutant."""
        shutil.rmtree(self.directory / mutant.name, ignore_errors=True)

    def run(self, mutant, words):
        name, tests, *sources = words
        program = self.mutated(name, mutant, sources) if mutant else self.unmutated(name)
        status, output = run_killer((self.TESTS, name, tests), [str(program), f"--gtest_filter={tests}", "--gtest_break_on_failure"])
        started = re.findall(r"\[ RUN      \] (\S+)", output)
        if not started:
            raise CannotBuild(f"no test of {name} is {tests}")
        if status == 0:
            return None
        failed = "Failure" in output
        how = "does not end" if status is None else "fails" if failed else "crashes"
        return f"{started[-1]} {how}"


class HostUnits(Units):
    """The host's unit tests, with the host build's library. The mutant's object files come first, so the linker takes their
    functions. A floor of the library is one object, in which calls are inlined. So the mutant's own floor is linked
    without optimization (CMakeLists.txt)."""

    TESTS = "tests/unit/host"
    LIBRARIES = ("gmock/gmock.h", "fmt/format.h", "nlohmann/json.hpp")

    def __init__(self, directory, host):
        super().__init__(directory)
        self.host = host
        self.ninja = threading.Lock()  # one at a time in a directory
        self.OPTIONS = [f'-DNOPSCOPE_GOLDEN="{ROOT}/tests/conformance"', "-DFMT_SHARED"]

    def make(self, *targets):
        with self.ninja:
            build(["cmake", "--build", str(self.host), "--target", *targets])

    def libraries(self):
        """The libraries that a unit test of the host is linked with (CMakeLists.txt)."""
        def found():
            self.make("nopscope_host", "nopscope_codec_bench", "nopscope_test_main")
            status, output = run(["ninja", "-C", str(self.host), "-t", "commands", "mutant_test"], 60)
            lines = [line for line in output.splitlines() if " -o bin/mutant_test " in line]
            if status != 0 or not lines:
                raise CannotBuild(f"{self.host} does not build mutant_test: {output[-300:]}")
            words = lines[-1].partition(" -o bin/mutant_test ")[2].partition(" && ")[0].split()
            return [str(self.host / word) if not word.startswith(("/", "-")) else word for word in words]
        return self.once("libraries", found)

    def plain_floor(self, source):
        """The floor that has this source (a path in host-tools/), not optimized."""
        target = f"nopscope_plain_{pathlib.PurePath(source).parts[0]}"
        self.once(target, lambda: self.make(target))
        return self.host / f"tests/verification/mutation/lib{target}.a"

    def link(self, name, objects, directory):
        build([*self.COMPILER, "-o", str(directory / name), *map(str, objects), *self.libraries(), "-pthread",
               "-Wl,--allow-multiple-definition"])
        return directory / name

    def objects(self, name):
        return [self.test_object(name)]

    def mutated(self, name, mutant, sources):
        overlay = self.overlay(mutant)
        paths = [ROOT / "host-tools" / source for source in sources]
        if mutant.file.endswith(".cpp"):
            paths, sources = [overlay / mutant.file], [str(pathlib.PurePath(mutant.file).relative_to("host-tools"))]
        test = self.test_object(name) if sources else self.compile(self.test_source(name), overlay)
        floors = sorted({self.plain_floor(source) for source in sources})
        return self.link(name, [*(self.compile(path, overlay) for path in paths), test, *floors], overlay)


class Images:
    """The firmware from a copy of the source. The copy contains one mutant at a time."""

    def __init__(self, directory, host, jobs):
        self.source = directory / "source"
        self.build = directory / "virt"
        self.host = host
        self.tool = host / "bin/nopscope"
        self.jobs = jobs
        self.changed = None
        self.is_ready = False

    def prepare(self):
        for name in FIRMWARE:
            files = [ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("*"))
            for file in files:
                if file.is_file() and "__pycache__" not in file.parts:
                    self.write(file.relative_to(ROOT), file.read_bytes())
        build(["cmake", "-S", str(self.source), "-B", str(self.build), "-G", "Ninja",
               "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DNOPSCOPE_BOARD=virt",
               f"-DCMAKE_TOOLCHAIN_FILE={self.source}/cmake/aarch64-none-elf.cmake", f"-DNOPSCOPE_TOOL={self.tool}"])
        self.is_ready = True

    # An unchanged file keeps its time, so make does not build it again.
    def write(self, path, content):
        to = self.source / path
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists() or to.read_bytes() != content:
            to.write_bytes(content)
            shutil.copymode(ROOT / path, to)

    def put(self, mutant):
        if self.changed and (mutant is None or mutant.file != self.changed):
            self.write(self.changed, (ROOT / self.changed).read_bytes())
        self.changed = mutant.file if mutant else None
        if mutant:
            self.write(mutant.file, mutant.source().encode())

    def command(self, elf, kind, name, machine, *more):
        if kind == "selftest":
            return qemu_command(machine, "selftest", [name], icount=False, elf=elf)
        if kind == "image":
            return qemu_command(machine, name, more, elf=elf)
        if kind == "e2e":
            return ["env", f"NOPSCOPE={self.tool}", f"NOPSCOPE_BUILD_ROOT={self.build.parent}",
                    f"NOPSCOPE_ORACLE={self.host / 'tests/verification/oracle/liboracle.so'}",
                    sys.executable, "-B", str(ROOT / "tests/e2e/oracle_test.py"), machine, name]
        cores, *words = more
        return [str(ROOT / "tests/verification/oracle/coherence.py"), str(self.host / "tests/verification/oracle/libcoherence.so"),
                "--elf", str(elf), "--machine", machine, "--cores", cores, *words]

    def run(self, mutant, words):
        kind, name = words[:2]
        image = "selftest" if kind == "selftest" else name
        if not self.is_ready:
            self.prepare()
        self.put(mutant)
        build(["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", image])
        status, output = run_killer(tuple(words), self.command(self.build / f"firmware/{image}.elf", *words))
        if status == 0:
            return None
        if kind == "coherence" and status == 2 and mutant is None:
            raise CannotBuild(f"the oracle does not run: {output[-400:]}")
        return f"{' '.join(words[:3])}: {first_complaint(output, status)}"


def first_complaint(output, status):
    if status is None:
        return "does not end"
    for line in output.replace("\r", "").splitlines():
        line = re.sub(r"[^ -~]", "", line)
        if re.search(r"FAIL|fail|panic|exception|, not |^coherence: [a-z-]+: ", line):
            return line[:160]
    return f"exit status {status}"


class Killers:
    def __init__(self, directory, host, jobs):
        self.units = {"unit": Units(directory / "unit"), "host": HostUnits(directory / "host", host)}
        self.images = Images(directory / "firmware", host, jobs)

    @staticmethod
    def is_unit(killer):
        return killer.split()[0] in ("unit", "host")

    def run(self, mutant, killer):
        """Returns None if the killer passes. `mutant` None: the unchanged source."""
        kind, *words = killer.split()
        return self.units[kind].run(mutant, words) if kind in self.units else self.images.run(mutant, [kind, *words])

    def forget(self, mutant):
        for units in self.units.values():
            units.forget(mutant)
