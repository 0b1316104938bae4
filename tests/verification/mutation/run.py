#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation tests. Each mutant leaves out or swaps one step of the tracer's protocol, or makes a
number of the host wrong. The script builds each mutant separately, and some test must fail for it.

    run.py [--only NAME]... [--part PART]...
    run.py --list      lists the mutants; each one's text must be in the source once
    run.py --table     prints the table for docs/proof.md

Exit status 1: a mutant survived. 2: a mutant could not be tried (its text is missing, it does not
compile, or a killer fails without any mutant); one sentence says which. Needs clang 19 and
GoogleTest. The images need the tools that ./dev setup installs, and the host build.
"""

import argparse
import concurrent.futures
import itertools
import pathlib
import sys
import threading
import time

from killers import CannotBuild, Killers
from mutants import HERE, ROOT, Wrong, load

said = threading.Lock()


def say(text):
    with said:
        print(text, flush=True)


def check_killers(killers, mutants, pool):
    """Each killer must pass without a mutant."""
    used = sorted({killer for mutant in mutants for killer in mutant.killed_by})
    tried = list(pool.map(lambda killer: (killer, killers.run(None, killer)), [killer for killer in used if Killers.is_unit(killer)]))
    tried += [(killer, killers.run(None, killer)) for killer in used if not Killers.is_unit(killer)]
    for killer, failed in tried:
        if failed:
            raise Wrong(f"{killer}: it fails without a mutant, so it proves nothing: {failed}")


def try_mutant(killers, mutant):
    """Tries a mutant. Prints the result at once. Returns what has failed, or None."""
    began = time.monotonic()
    try:
        for killer in mutant.killed_by:
            failed = killers.run(mutant, killer)
            if failed:
                break
    except CannotBuild as error:
        raise Wrong(f"{mutant.part}.toml: {mutant.name} does not compile, so nothing was tried: {error}") from error
    finally:
        killers.forget(mutant)
    seconds = time.monotonic() - began
    say(f"{mutant.name}: " + (f"killed by {failed} [{seconds:.0f} s]" if failed else
                              f"SURVIVED {', '.join(mutant.killed_by)}: {mutant.step}"))
    return failed


def try_all(killers, mutants, jobs):
    """Returns the mutants that survived."""
    needs_image = [mutant for mutant in mutants if not all(map(Killers.is_unit, mutant.killed_by))]
    others = [mutant for mutant in mutants if mutant not in needs_image]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        check_killers(killers, mutants, pool)
        survived = [mutant for mutant, failed in zip(others, pool.map(lambda m: try_mutant(killers, m), others)) if not failed]
    # There is only one copy of the firmware's source. So these run in turn, file by file.
    return survived + [mutant for mutant in sorted(needs_image, key=lambda m: m.file) if not try_mutant(killers, mutant)]


def listed(mutants):
    lines = [f"{m.name}: {m.step} ({m.file}; {', '.join(m.killed_by)})" for m in mutants]
    return "\n".join([*lines, f"mutants: {len(mutants)}, each with a text that is in the source once"])


def table(mutants):
    """Returns the parts' table: number of mutants, mutated files, possible killers."""
    lines = ["| part | mutants | of | killed by |", "|---|---:|---|---|"]
    for part, group in itertools.groupby(mutants, key=lambda mutant: mutant.part):
        group = list(group)
        files = ", ".join(f"`{file}`" for file in sorted({mutant.file for mutant in group}))
        kinds = ", ".join(sorted({killer.split()[0] for mutant in group for killer in mutant.killed_by}))
        lines.append(f"| {part} | {len(group)} | {files} | {kinds} |")
    return "\n".join([*lines, f"| all | {len(mutants)} | | |"])


def chosen(mutants, arguments):
    names = [*arguments.only, *arguments.part]
    for name in names:
        if not any(name in (mutant.name, mutant.part) for mutant in mutants):
            raise Wrong(f"there is no mutant and no part {name} (--list)")
    return [mutant for mutant in mutants if not names or mutant.name in arguments.only or mutant.part in arguments.part]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--part", action="append", default=[], metavar="PART")
    parser.add_argument("--mutants", type=pathlib.Path, default=HERE / "mutants", help="the lists' directory")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/mutation")
    parser.add_argument("--host", type=pathlib.Path, default=ROOT / "build/host", help="the host build")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    try:
        mutants = chosen(load(arguments.mutants), arguments)
        if arguments.table or arguments.list:
            print(table(mutants) if arguments.table else listed(mutants))
            return 0
        killers = Killers(arguments.build.resolve(), arguments.host.resolve(), arguments.jobs)
        survived = try_all(killers, mutants, arguments.jobs)
    except (Wrong, CannotBuild) as error:
        print(f"mutation: {error}", file=sys.stderr)
        return 2
    for mutant in survived:
        say(f"SURVIVED: {mutant.name} ({mutant.file})")
    say(f"mutants: {len(mutants) - len(survived)} killed of {len(mutants)}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
