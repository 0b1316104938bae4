#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nopscope in a firmware without our hal. The test installs nopscope, builds the firmware outside
of the tree with a Makefile and with CMake, boots and records it, and compares it with the oracle.

    integration_test.py [TEST]...

From the environment, in addition to machines.py's: NOPSCOPE_CROSS (prefix of the cross compiler),
NOPSCOPE_FIRMWARE_TOOLCHAIN (arguments to CMake that name it).
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/e2e"))
import machines  # noqa: E402  puts tests/verification/oracle on the path
import truth  # noqa: E402

import guide

HERE = ROOT / "tests/guide"
FOREIGN = ROOT / "firmware/examples/own-startup"
CROSS = os.environ.get("NOPSCOPE_CROSS", "aarch64-linux-gnu-")
PACKAGE = [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64-none-elf.cmake", "-DNOPSCOPE_PACKAGE=ON",
           "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DNOPSCOPE_CORES=1", "-DNOPSCOPE_RING_LOG2=16",
           *shlex.split(os.environ.get("NOPSCOPE_FIRMWARE_TOOLCHAIN", ""))]
# For a project without a toolchain file.
PROJECT = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
           f"-DCMAKE_C_COMPILER={CROSS}gcc", f"-DCMAKE_CXX_COMPILER={CROSS}g++", f"-DFOREIGN={FOREIGN}"]
CLANG = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DFOREIGN={FOREIGN}",
         "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19",
         *(f"-DCMAKE_{language}_COMPILER_TARGET=aarch64-linux-gnu" for language in ("C", "CXX", "ASM"))]
# Functions of conventions.c that `check` names. Without debug information it sees those of KEEPS alone.
KEEPS = {"most": "must keep x9 to x15 (preserve_most)", "all": "must keep x9 to x15 (preserve_all)",
         "vector_entry": "takes a register of x9 to x15 from its caller"}
TAKES = {**dict.fromkeys(("none", "none_many"), "may take arguments in x9 to x15 (preserve_none)"),
         "async_many": "takes its arguments off the stack (swiftasynccall)"}
machines.HANG_SECONDS = HANG_SECONDS = 120  # the longest test takes twenty
QEMU = ["qemu-system-aarch64", "-M", "virt", "-nic", "none", "-display", "none", "-monitor", "none", "-icount", "shift=0"]
STDIO = ["-serial", "stdio"]
NEWLIB_SOURCE = "/usr/src/newlib"  # where Debian's newlib-source puts it


def run(*command, **environment):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=HANG_SECONDS, env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def cmake(source, build, *options):
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", *options)
    run("cmake", "--build", build)


def make(out, prefix, *variables, source=FOREIGN, image="foreign"):
    """Returns the image. Other images of `source` are beside it if `variables` ask make for them."""
    out.mkdir(exist_ok=True)
    run("make", "-C", source, f"OUT={out}", f"CROSS={CROSS}", *variables, out / f"{image}.elf",
        PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
    return out / f"{image}.elf"


class Integration(machines.Case):
    def setUp(self):
        """All tests share one directory."""

    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(machines.Directory())
        cls.prefix = cls.directory / "prefix"
        cmake(ROOT, cls.directory / "package", *PACKAGE, f"-DCMAKE_INSTALL_PREFIX={cls.prefix}")
        run("cmake", "--install", cls.directory / "package")

    def profile(self, elf, *options, said=None, times=False):
        """Records to the end with exactly the oracle's counts. Returns the console, and calls by
        name. `said`: a file for the program's semihosting output, which QEMU sends to its standard
        output. `times`: checks the times, too (tests/verification/oracle/truth.py)."""
        directory = elf.parent
        recording = directory / "line.nsc"
        command = [*QEMU, *options, "-kernel", str(elf),
                   *machines.oracle_arguments(elf, directory / "sites", directory / "counts", more=truth.shadow_map(elf) if times else ())]
        if said:
            command += ["-chardev", "file,path=/dev/fd/3,id=line", "-serial", "chardev:line"]
            command = ["sh", "-c", f"exec {shlex.join(command)} 3>&1 >{shlex.quote(str(said))}"]
        else:
            command += STDIO
        console = machines.nopscope("record", "--from", "exec:" + shlex.join(command), "--image", elf, "-o", recording).stdout
        report = machines.as_json("report", recording, "--image", elf)
        self.assert_clean(report)
        counted = json.loads((directory / "counts").read_text())
        self.assert_as_oracle(report, counted)
        if times:
            self.assert_true(report, counted, elf.stem)
        return console, {f["name"]: f["calls"] for f in report["functions"]}

    def assert_true(self, report, counted, name):
        compared = truth.compare_times(report, counted)
        print("\n" + truth.table(compared.rows[:10]) + "\n" + truth.summary(compared))
        if "NOPSCOPE_TRUTH_OUT" in os.environ:  # for docs/accuracy.md
            out = pathlib.Path(os.environ["NOPSCOPE_TRUTH_OUT"]) / f"{name}.{report['clock_hz']}.json"
            out.write_text(json.dumps(truth.as_json(compared)))
        self.assertEqual(compared.faults, [])
        self.assertEqual([(row.name, row.worst()) for row in compared.unexplained()], [])
        self.assertEqual(compared.too_many_outside(), [])
        self.assertEqual([row.name for row in compared.inexact()], [])

    def assert_profiled(self, elf, cpu="max"):
        console, calls = self.profile(elf, "-cpu", cpu)
        self.assertIn("right", console)
        self.assertGreater(calls.pop("fibonacci"), 500)
        self.assertEqual(calls, {"next": 111, "steps_to_one": 1, "say": 1})

    def test_headers_are_complete(self):
        include = self.prefix / "include/nopscope"
        headers = sorted(path for path in include.rglob("*") if path.is_file())
        public = [ROOT / "tracer/include/nopscope", ROOT / "tracer/arch/arm64/include/nopscope"]
        self.assertEqual([path.relative_to(include) for path in headers],
                         sorted(path.relative_to(part) for part in public for path in part.rglob("*") if path.is_file()))
        self.assertGreater(len(headers), 5)
        # With the tracer and pkg-config's flags. shipping.empty tests the other build.
        flags = ["-ffreestanding", "-fsyntax-only", "-Wall", "-Werror", f"-I{include.parent}", "-DNOPSCOPE_ENABLED=1"]
        for header in headers:
            run(CROSS + "g++", "-std=c++20", *flags, "-x", "c++", "-include", header, "/dev/null")
            if header.suffix == ".h":
                run(CROSS + "gcc", "-std=c11", *flags, "-x", "c", "-include", header, "/dev/null")

    def test_makefile_and_pkg_config(self):
        self.pkg_config_takes_versions_that_fit()
        elf = make(self.directory / "make", self.prefix)
        machines.nopscope("check", elf)
        for cpu in ("max", "cortex-a72"):
            self.assert_profiled(elf, cpu)

    def test_find_package(self):
        self.find_package_takes_versions_that_fit()
        build = self.directory / "found"
        cmake(HERE / "project", build, *PROJECT, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.assert_profiled(build / "foreign.elf")

    def with_clang(self, name, *flags, link="", **how):
        instrument = run("pkg-config", "--variable=instrument_clang", "nopscope", PKG_CONFIG_PATH=str(self.prefix / "lib/pkgconfig"))
        return make(self.directory / name, self.prefix, "CC=clang-19 --target=aarch64-linux-gnu", f"MORE_LDFLAGS={link}",
                    f"TRACED={instrument.strip()} {shlex.join(flags)}", *(f"{key}={value}" for key, value in how.items()))

    def test_clang(self):
        for name, how in (("found", f"-DCMAKE_PREFIX_PATH={self.prefix}"), ("added", f"-DNOPSCOPE_SOURCE={ROOT}")):
            build = self.directory / f"clang-{name}"
            cmake(HERE / "project", build, *CLANG, how, "-DNOPSCOPE_CORES=1", "-DCMAKE_BUILD_TYPE=RelWithDebInfo")
            machines.nopscope("check", build / "foreign.elf")
            self.assert_profiled(build / "foreign.elf")
        for linker in ("bfd", "lld"):
            for more in ("", " -Wl,--gc-sections"):
                quiet = {"NO_WARNING": ""} if linker == "lld" else {}
                elf = self.with_clang(f"clang-{linker}{len(more)}", link=f"-fuse-ld={linker}{more}", **quiet)
                machines.nopscope("check", elf)
                self.assert_profiled(elf)

    def conventions(self, name, *flags):
        return self.with_clang(name, *flags, PROGRAM=HERE / "conventions.c")

    def refused(self, elf):
        """Returns the functions that `check` names with what it says of them. `record`, `top` and `serve` refuse the image, too."""
        said = machines.nopscope("check", elf, status=1).stdout
        for verb in (("record", "-o", elf.parent / "x.nsc"), ("top", "--once"), ("serve",)):
            self.assertIn(said.splitlines()[0] + "; --allow-convention",
                          machines.nopscope(*verb, "--from", "exec:false", "--image", elf, status=3).stderr)
        return dict(re.findall(r": (\w+) at 0x\w+ (.*), so a traced call breaks the program: give it NOPSCOPE_NOTRACE, "
                               r"which is __attribute__\(\(patchable_function_entry\(0\)\)\)$", said, re.M))

    def test_calling_conventions(self):
        self.assertEqual(self.refused(self.conventions("all-traced")), KEEPS | TAKES)
        self.assertEqual(self.refused(self.conventions("without-debug", "-g0")), {**KEEPS, **dict.fromkeys(("most", "all"), KEEPS["vector_entry"])})
        kept = "-DASYNC_BROKEN=NOPSCOPE_NOTRACE"
        mended = self.conventions("mended", kept, "-DBROKEN=NOPSCOPE_NOTRACE")
        machines.nopscope("check", mended)
        console, calls = self.profile(mended, "-cpu", "max")
        self.assertEqual(set(re.findall(r"\d+$", console, re.M)), {"0"}, console)
        self.assertLessEqual({"usual", "swift", "vector", "sve", "windows", "async", "naked", "usual_many", "swift_many"}, set(calls))
        # What it was refused for.
        broken = self.conventions("broken", kept)
        machines.nopscope("check", broken, "--allow-convention", "*")
        command = shlex.join([*QEMU, *STDIO, "-cpu", "max", "-kernel", str(broken)])
        console = machines.nopscope("record", "--from", f"exec:{command}", "--image", broken, "-o", broken.parent / "line.nsc",
                                    "--allow-convention", "most", "--allow-convention", "*").stdout
        self.assertEqual(set(re.findall(r"(\w+) [1-9]$", console, re.M)), {"most", "all", "none_many"}, console)

    def version(self):
        """Returns (file, whole, major, minor) of the installed package."""
        config = self.prefix / "lib/cmake/nopscope/nopscope-config-version.cmake"
        whole = re.search(r'^set\(PACKAGE_VERSION "(.*)"\)', config.read_text(), re.MULTILINE)[1]
        return config, whole, *map(int, whole.split(".")[:2])

    def find_package_takes_versions_that_fit(self):
        # Below 1.0 each minor version may be incompatible with the one before (semver.org).
        config, whole, major, minor = self.version()
        self.addCleanup(config.write_text, config.read_text())
        config.write_text(config.read_text().replace(f'"{whole}"', f'"{major}.{minor}.7"'))
        fitting = f"{major}.{minor}", f"{major}.{minor}.3"
        for wanted in (*fitting, f"{major}.{minor}.8", f"{major}.{minor + 1}", f"{major + 1}.0", f"{major}.{minor - 1}" if minor else "99.0"):
            configure = ("-S", HERE / "project", "-B", self.directory / f"version-{wanted}", "-G", "Ninja", *PROJECT,
                         f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DNOPSCOPE_VERSION={wanted}")
            if wanted in fitting:
                run("cmake", *configure)
                continue
            with self.assertRaisesRegex(AssertionError, f'compatible with\\s+requested version "{wanted}"', msg=wanted):
                run("cmake", *configure)

    def pkg_config_takes_versions_that_fit(self):
        _, whole, major, minor = self.version()
        environment = {"PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        self.assertEqual(run("pkg-config", "--modversion", "nopscope", **environment).strip(), whole)
        run("pkg-config", "--exists", f"nopscope >= {major}.{minor} nopscope < {major}.{minor + 1}", **environment)
        with self.assertRaises(AssertionError):
            run("pkg-config", "--exists", f"nopscope >= {major}.{minor + 1}", **environment)
        self.assertTrue(pathlib.Path(run("pkg-config", "--variable=linker_script", "nopscope", **environment).strip()).is_file())

    def built_along(self, register, *how):
        build = self.directory / f"added-{register}"
        cmake(HERE / "project", build, *PROJECT, *how, "-DNOPSCOPE_CORES=1",
              "-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DNOPSCOPE_TPIDR={register}")
        elf = build / "foreign.elf"
        self.assert_profiled(elf)
        code = run(CROSS + "objdump", "-d", elf)
        return {name for name in ("tpidr_el1", "tpidr_el0", "tpidrro_el0", "contextidr_el1") if f"{name}" in code}

    def test_add_subdirectory_and_another_register(self):
        self.assertEqual(self.built_along("el0", f"-DNOPSCOPE_SOURCE={ROOT}"), {"tpidr_el0"})
        # From a repository, as firmware would use a forge: one commit with this tree.
        repository = self.directory / "repository"
        guide.clone(repository)
        git = ("git", "-C", repository, "-c", "user.name=test", "-c", "user.email=test@example.org")
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "All of it"), ("tag", "v0")):
            run(*git, *words)
        with unittest.mock.patch.dict(os.environ, CCACHE_BASEDIR=str(self.directory)):
            registers = self.built_along("ro_el0", f"-DNOPSCOPE_REPOSITORY=file://{repository}", "-DNOPSCOPE_TAG=v0")
        self.assertEqual(registers, {"tpidrro_el0"})
        self.assertEqual(self.built_along("contextidr", f"-DNOPSCOPE_SOURCE={ROOT}"), {"contextidr_el1"})

    def test_an_unknown_register_is_refused(self):
        with self.assertRaisesRegex(AssertionError, "NOPSCOPE_TPIDR is el3: el1, el0, ro_el0 or contextidr"):
            cmake(ROOT, self.directory / "el3", *PACKAGE, "-DNOPSCOPE_TPIDR=el3")

    def test_init_refuses_what_it_cannot_work_with(self):
        elf = make(self.directory / "refusals", self.prefix, f"PROGRAM={HERE}/refusals.c", f"EXTRA={HERE}/el0.S")
        expected = (HERE / "refusals.expected").read_text()
        for cpu in ("max", "cortex-a72"):
            self.assertEqual(run(*QEMU, *STDIO, "-cpu", cpu, "-kernel", elf).replace("\r", ""), expected)

    def test_several_cores(self):
        prefix = self.directory / "prefix-4"
        cmake(ROOT, self.directory / "package-4", *PACKAGE, "-DNOPSCOPE_CORES=4", "-DNOPSCOPE_TPIDR=el0",
              f"-DCMAKE_INSTALL_PREFIX={prefix}")
        run("cmake", "--install", self.directory / "package-4")
        elf = make(self.directory / "several", prefix, image="several")
        for cpu in ("max", "cortex-a72"):
            console, calls = self.profile(elf, "-cpu", cpu, "-smp", "4")
            self.assertEqual(console, "right\n")
            self.assertEqual([calls[f"on_core_{core}"] for core in range(4)], [1, 1, 1, 1])
            self.assertGreater(calls["fibonacci"], 2000)

        elf = make(self.directory / "running", prefix, f"SEVERAL={HERE}/cores_running.c", image="several")
        said = run(*QEMU, *STDIO, "-cpu", "max", "-smp", "4", "-kernel", elf)
        self.assertEqual(said.replace("\r", ""), "other cores are on already: call init() before they are "
                         "started, and join() on each\nthe text is as it was\n")

    def test_third_party_qemu_memory(self):
        source = run(ROOT / "cmake/fetch_source.sh", "qemu", "tests/tcg/aarch64/system/boot.S", "tests/tcg").strip()
        elf = make(self.directory / "qemu", self.prefix, f"SOURCE={source}/tests/tcg", source=HERE / "third_party", image="memory")
        machines.nopscope("check", elf)
        said = elf.parent / "said"
        _, calls = self.profile(elf, "-cpu", "max", "-chardev", f"file,path={said},id=said",
                                "-semihosting-config", "enable=on,target=native,chardev=said", times=True)
        self.assertIn("Test complete: PASSED", said.read_text())
        self.assertEqual(calls["main"], 1)
        self.assertGreater(sum(calls.values()), 2000000)

    def test_third_party_newlib_math(self):
        directory = self.directory / "newlib"
        (directory / "source").mkdir(parents=True)
        run("tar", "-xf", sorted(pathlib.Path(NEWLIB_SOURCE).glob("newlib-*.tar.*"))[-1], "-C", directory / "source", "--strip-components=1", "--wildcards",
            "*/libgloss/aarch64", "*/newlib/libm/test")
        built = json.loads((machines.BUILD_ROOT / "virt/toolchain.json").read_text())
        elf, plain = (make(directory, self.prefix, f"SOURCE={directory}/source", f"NEWLIB={built['newlib']}",
                           source=HERE / "third_party", image=image) for image in ("math", "plain"))
        machines.nopscope("check", elf)
        # Without the conversions: newlib 3.3.0 does not end in one of them, traced or not.
        words = ["-semihosting-config", "enable=on,target=native,arg=math,arg=-nocvt"]
        said = run(*QEMU, "-serial", "none", "-cpu", "max", *words, "-kernel", plain)
        self.assertRegex(said, r"Tested \d{5} functions")
        for cpu in ("max", "cortex-a72"):
            _, calls = self.profile(elf, "-cpu", cpu, *words, said=directory / "said", times=True)
            self.assertEqual((directory / "said").read_text(), said)
            self.assertEqual(calls["main"], 1)
            self.assertGreater(sum(calls.values()), 1000000)


if __name__ == "__main__":
    unittest.main()
