# SPDX-License-Identifier: Apache-2.0
"""Reads each format, by its real reader if there is one. EVENTS: what reads an export's calls. SUMS: what reads the figures of
a recording's functions and paths. From the environment, for speedscope: NODE, CHROMIUM, NOPSCOPE_EXPORT_PACKAGES (has node_modules/)."""

import collections
import csv
import decimal
import json
import os
import pathlib
import re
import shutil

import exports
import hostile_names
import kernelshark
import perfetto
from exports import key_of

HERE = pathlib.Path(__file__).resolve().parent

# Event formats. Each function returns exports.Sums of an exported file.

def chrome_data(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def chrome(path):
    """Takes events by time, and simultaneous ones as in the file, like Perfetto's importer."""
    events, sums = chrome_data(path)["traceEvents"], exports.Sums()
    cores = {event["tid"]: int(match[1]) for event in events if event["name"] == "thread_name"
             if (match := re.match(r"core (\d+)", event["args"]["name"]))}
    for event in sorted((event for event in events if event.get("cat") == "call"), key=lambda event: event["ts"]):
        tid, what = event["tid"], {"B": True, "E": False, "i": None}[event["ph"]]
        sums.take(what, tid, event["name"], int(event["ts"] * 1000), cores[tid])
    return sums


def nested(calls, points):
    """Adds up calls (track, core, key, begin, end, depth, self time, duration)."""
    calls, own = list(calls), collections.Counter()
    sums = exports.sums_of_calls(call[:6] for call in calls)
    for call in calls:
        own[call[2]] += call[6]
        sums.durations[call[2]] += call[7] or 0
    sums.calls.update(points)
    sums.failures += [f"the self times of {of} add up to {own[of]}, and by its calls to {sums.self_[of]}"
                      for of in own if own[of] != sums.self_[of]]
    return sums


def csv_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def csv_sums(path):
    rows = [row | {"address": address_of(int(row["address"] or "0", 0))} for row in csv_rows(path)]
    columns = "begin_ns", "end_ns", "depth", "self_ns", "duration_ns"
    return nested(((f"{row['core']}.{row['context']}", int(row["core"]), key_of(row, "address"), *(int(row[key]) for key in columns))
                   for row in rows if row["kind"] == "call"), (key_of(row, "address") for row in rows if row["kind"] == "point"))


def address_of(value):
    return f"0x{value:x}" if value else None


def shell(path, sql):
    """Returns the sqlite3 shell's answer."""
    return json.loads(exports.run("sqlite3", "-json", "-readonly", path, sql).stdout or "[]")


def placed(row):
    return key_of(row | {"address": address_of(row["address"])}, "address")


def sqlite(path):
    calls = shell(path, "SELECT calls.track, tracks.core, functions.name, address, calls.begin_ns, calls.end_ns, calls.depth, "
                        "calls.self_ns, named_calls.duration_ns FROM calls JOIN functions ON functions.id = function "
                        "JOIN tracks ON tracks.id = calls.track LEFT JOIN named_calls ON named_calls.id = calls.id")
    points = shell(path, "SELECT name, address FROM points JOIN functions ON functions.id = function")
    return nested(((row["track"], row["core"], placed(row), row["begin_ns"], row["end_ns"], row["depth"], row["self_ns"],
                    row["duration_ns"]) for row in calls), map(placed, points))


CTF_LINE = re.compile(r"^\[(\d+)\.(\d{9})\] \(\+[^)]*\) ([a-z_]+): \{ cpu_id = (\d+) \}, \{ context = (\d+) \}, \{ (.*) \}$")
CTF_CALLS = {"entry": True, "return": False, "point": None}
CTF_FUNCTION = re.compile(r'function = \( "((?:[^"\\]|\\.)*)" : container = (\d+) \)')


def ctf_events(path):
    """Returns (kind, nanoseconds, core, context, the text of its fields) of each event, as babeltrace2 prints them."""
    done, events = exports.run("babeltrace2", "--clock-seconds", path), []
    errors = [line for line in done.stderr.decode().splitlines() if not re.match("WARNING: Tracer (may have )?discarded", line)]
    assert not errors, errors
    for line in done.stdout.decode().split("\n")[:-1]:
        match = CTF_LINE.match(line)
        assert match, line
        events.append((match[3], int(match[1]) * 10 ** 9 + int(match[2]), int(match[4]), int(match[5]), match[6]))
    return events


def ctf_name(label):
    """Undoes the escapes: babeltrace2 prints a label as a string literal, as in the metadata."""
    return re.sub(r"\\(.)", r"\1", label)


def ctf(path):
    events, places, sums = ctf_events(path), {}, exports.Sums()
    for kind, _, _, _, fields in events:  # each function has one event, on the file's first core
        if kind == "function":
            places[CTF_FUNCTION.search(fields)[2]] = {"file": re.search(r'file = "((?:[^"\\]|\\.)*)"', fields)[1],
                                                      "line": int(re.search(r"line = (\d+)", fields)[1])}
    for kind, at, core, context, fields in events:
        if kind in CTF_CALLS:
            label, number_ = CTF_FUNCTION.search(fields).groups()
            of = key_of({"name": ctf_name(label), "file": "", "line": 0} | places.get(number_, {}), "place")
            sums.take(CTF_CALLS[kind], (core, context), of, at, core)
    return sums


SPEEDSCOPE_UNITS = {"nanoseconds": 1, "microseconds": 1000, "none": 1}  # in ns


def opened_by_speedscope(directory, *paths):
    """Returns all that speedscope itself read from each file, in its own format."""
    scripts = directory / "scripts"
    if not scripts.exists():
        scripts.mkdir()
        for script in (HERE / "speedscope.mjs", HERE.parent / "web" / "browser.mjs"):
            shutil.copy(script, scripts)
        # Node finds modules from the directory of the script.
        (scripts / "node_modules").symlink_to(pathlib.Path(os.environ["NOPSCOPE_EXPORT_PACKAGES"]) / "node_modules")
    exports.run(os.environ["NODE"], scripts / "speedscope.mjs", scripts / "node_modules/speedscope/dist/release/index.html", *paths)
    return [json.loads(path.with_name(f"{path.name}.exported").read_text(encoding="utf-8")) for path in paths]


def speedscope(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    return speedscope_sums(data, [key_of({"file": "", "line": 0} | frame, "place") for frame in data["shared"]["frames"]],
                           lambda profile: int(re.match(r"core (\d+),", profile["name"])[1]))


def speedscope_sums(data, frames, core_of):
    """`frames`: what the sums name the functions by. `core_of`: a profile's core."""
    events, sums = [], exports.Sums()
    for number_, profile in enumerate(data["profiles"]):
        if profile["type"] == "evented":
            events += [(event["at"], SPEEDSCOPE_UNITS[profile["unit"]], number_, core_of(profile), event) for event in profile["events"]]
    for at, unit, number_, core, event in sorted(events, key=lambda event: event[0]):
        sums.take(event["type"] == "O", number_, frames[event["frame"]], round(at * unit), core)
    return sums


KERNEL_LINE = re.compile(r"^ *core\d+/(\d+)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (\w+): +(.*)$")
KERNEL_ENTRY = re.compile(r"^func=(.*) depth=(\d+)$")
KERNEL_EXIT = re.compile(r"^func=(.*) depth=(\d+) overrun=0 calltime=([0-9a-f]+) rettime=([0-9a-f]+)$")


def kernel_name(name):
    return name.replace(" ", "_")


def trace_cmd_report(path, *options):
    return exports.run("trace-cmd", "report", "-t", *options, path).stdout.decode(errors="replace")


def trace_cmd(path):
    begins, sums = collections.defaultdict(list), exports.Sums()
    for match in filter(None, map(KERNEL_LINE.match, trace_cmd_report(path, "-R").split("\n"))):
        at, core, task, fields = int(match[4]) * 10 ** 9 + int(match[5]), int(match[3]), match[2], match[7]
        if match[6] == "funcgraph_entry":
            of, depth = KERNEL_ENTRY.match(fields).groups()
            if int(depth) != len(begins[task]):
                sums.failures.append(f"trace-cmd: {of} begins {depth} deep in {len(begins[task])} calls")
            begins[task].append(at)
            sums.begin(task, of, at, core)
        elif match[6] == "funcgraph_exit":
            of, depth, begin, end = KERNEL_EXIT.match(fields).groups()
            if int(depth) == len(begins[task]) - 1 and begins[task][-1] == int(begin, 16):
                if (begins[task].pop(), at) != (int(begin, 16), int(end, 16)):
                    sums.failures.append(f"trace-cmd: {of} at {at} has other times in its exit")
                sums.end(task, at, core, of)
            else:  # from a duration record
                sums.calls[of] += 1
        elif match[6] == "function":
            sums.calls[re.match(r"^ip=(.*) parent_ip=", fields)[1]] += 1
    return sums


UFTRACE_DUMP = re.compile(r"^(\d+)\.(\d{9}) +(\d+): \[(entry|exit )\] (.*)\(([0-9a-f]+)\) depth: (\d+)$")


def uftrace(path):
    """Tasks are numbered as tracks appear. The database has each one's core."""
    cores = {row["id"] + 1: row["core"] for row in shell(path.with_suffix(".sqlite"), "SELECT id, core FROM tracks")}
    text = exports.run("uftrace", "dump", "--no-pager", "--color=no", "--demangle=no", "--depth=32767", "-d", path).stdout.decode()
    events, sums = filter(None, map(UFTRACE_DUMP.match, text.splitlines())), exports.Sums()
    for at, task, kind, of in sorted(((int(one[1]) * 10 ** 9 + int(one[2]), int(one[3]), one[4], one[5]) for one in events),
                                     key=lambda event: event[0]):
        sums.take(kind == "entry", task, of, at, cores[task])
    return sums


# By format: how it names functions (a key of exports.LEVELS, and a spelling), and what reads it.
EVENTS = {"chrome": ("name", hostile_names.without_nul, chrome), "csv": ("address", str, csv_sums), "ctf": ("place", str, ctf),
          "kernelshark": ("name", kernel_name, kernelshark.sums_of), "sqlite": ("address", str, sqlite),
          "perfetto": ("name", hostile_names.without_nul, lambda path: perfetto.Trace(path).sums), "speedscope": ("place", str, speedscope),
          "trace-cmd": ("name", kernel_name, trace_cmd), "uftrace": ("name", str, uftrace)}


# Sums. Each function takes a test, a recording, and whether times are as recorded. It returns a Reading.

# `figures`: {key: {"calls", "total", "self", "inclusive", and others: numbers}}, or some of them. `paths`: {names, the outermost
# first: {"calls", "self"}}.
Reading = collections.namedtuple("Reading", "level figures paths failures", defaults=(None, ()))


def by_path(nodes):
    """Adds up a tree's nodes (id, parent, row, calls, total, self), parents first."""
    figures, paths, at = {}, {}, {None: ()}
    for number_, parent, row, calls, total, own in nodes:
        of, on_stack = key_of(row, "address"), at[parent]
        at[number_] = on_stack + ((of, row["name"]),)
        figure = figures.setdefault(of, {"calls": 0, "total": 0, "self": 0, "inclusive": 0})
        # A time counts once in a function's total, even if the function recurses.
        recurs = any(of == outer for outer, _ in on_stack)
        path = paths.setdefault(tuple(name for _, name in at[number_]), {"calls": 0, "self": 0})
        for to, key, value in ((figure, "calls", calls), (figure, "self", own), (figure, "inclusive", total),
                               (figure, "total", 0 if recurs else total), (path, "calls", calls), (path, "self", own)):
            to[key] += value
    return Reading("address", figures, paths)


def graph(_, name, raw):
    before = "" if raw else "corrected_"
    return by_path((node["id"], node["parent"], node, node["calls"], node[f"{before}total_ns"], node[f"{before}self_ns"])
                   for node in exports.graph(name)["nodes"])


PAGE_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def html(case, name, raw):
    """The page's table. Its failures are where the page's paths are of another opinion."""
    out = case.directory / f"{name}.html"
    exports.nopscope("html", exports.recording(name), "-o", out, *["--raw"] * raw)
    data = json.loads(PAGE_DATA.search(out.read_text(encoding="utf-8"))[1])
    functions, paths = data["functions"], data["paths"]
    reading = by_path((n, paths["parent"][n] or None, functions[of] if of >= 0 else {"name": NO_FUNCTIONS[-of]},
                       paths["calls"][n], paths["total"][n], paths["self"][n]) for n, of in enumerate(paths["function"]) if n)
    table = {key_of(row, "address"): {key: row[key] for key in ("calls", "total", "self")} for row in functions if row["calls"]}
    compared = ("calls", "self", *(() if exports.report(name)["gaps_list"] else ("total",)))
    failures = [f"{key} of {of} is {row[key]} in the table and {reading.figures[of][key]} in the paths"
                for of, row in table.items() if of in reading.figures for key in compared if row[key] != reading.figures[of][key]]
    for of, row in reading.figures.items():
        table.setdefault(of, {})["inclusive"] = row["inclusive"]
    return Reading("address", table, reading.paths, failures)


def folded_lines(path):
    """Yields (functions, weight) of each line. As in flamegraph.pl, the last word is the number."""
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        stack, _, weight = line.rpartition(" ")
        yield tuple(stack.split(";")), int(weight)


def folded(case, name, raw):
    paths, own = {}, collections.Counter()
    for path, weight in folded_lines(case.export(name, *["--raw"] * raw, to="folded")):
        paths.setdefault(path, {"self": 0})["self"] += weight
        own[path[-1]] += weight
    return Reading("name", {of: {"self": time} for of, time in own.items()}, paths)


COST = r" *([\d,]+)(?: \( *[\d.]+%\))? +"
# The costs of up to two events. A name begins in the column where a file's name does.
COSTS = re.compile(rf"^(?:{COST}|\. +)(?:(?:{COST}|\. +))?(\S.*)$")
CALLER = re.compile(rf"^{COST}< ([^:]*):(.*) \(([\d,]+)x\) \[\]$")
CALLEE = re.compile(rf"^{COST}\*  ([^:]*):(.*?)(?: \[\])?$")


def number(text):
    return int(text.replace(",", "")) if text else 0


def annotated(path, *options):
    text = exports.run("callgrind_annotate", "--threshold=100", "--auto=no", *options, path).stdout.decode()
    assert "PROGRAM TOTALS" in text
    return text.splitlines()


def annotate(path, *options):
    """Returns {(file, function): its costs}, as callgrind_annotate prints them."""
    found = {}
    for match in filter(None, map(COSTS.match, annotated(path, "--show-percs=yes", *options))):
        if match[3] != "PROGRAM TOTALS":
            file, _, name = match[3].removesuffix(" []").partition(":")
            costs = found.setdefault((file, name), [0, 0])
            costs[0] += number(match[1])
            costs[1] += number(match[2])
    return found


def calls_of_callees(path):
    """Returns {(caller's file and name, callee's): calls}, of "< caller (Nx)" above functions."""
    found, callers = collections.Counter(), []
    for line in annotated(path, "--tree=caller", "--show=ns"):
        if caller := CALLER.match(line):
            callers.append(((caller[2], caller[3]), number(caller[4])))
        elif callee := CALLEE.match(line):
            for of, count in callers:
                found[of, (callee[2], callee[3])] += count
            callers = []
    return found


NO_FUNCTIONS = ("(root)", "(callers lost in a gap)", "(paths beyond the tree's room)", "(of the target's profile)")


def callgrind(case, name, raw):
    path = case.export(name, *["--raw"] * raw, to="callgrind")
    figures = collections.defaultdict(lambda: {"calls": 0, "self": 0, "inclusive": 0})

    def row(file, of):
        return figures[key_of({"name": of, "file": "" if file == "???" else file}, "file")]

    for of, costs in annotate(path).items():
        row(*of)["self"] += costs[0]
    for of, costs in annotate(path, "--inclusive=yes").items():
        row(*of)["inclusive"] += sum(costs)  # with the time away
    for (_, callee), calls in calls_of_callees(path).items():
        row(*callee)["calls"] += calls
    for of in NO_FUNCTIONS:
        # Readers need a number of calls with each cost, also for entries that are no functions.
        if of in figures:
            figures[of]["calls"] = 0
    figures.pop("(root)", None)
    return Reading("file", dict(figures))


LOCATION = re.compile(r"^ *(\d+): 0x([0-9a-f]+) M=1 (.*) ([^ ]*):(-?\d+) s=-?\d+$")


def pprof_raw(path):
    """`pprof -raw`: (types, samples as (values, locations), {location: row}, the text)."""
    text = exports.run("go", "tool", "pprof", "-symbolize=none", "-raw", path,
                       env={"PATH": "/usr/bin:/bin", "HOME": str(path.parent)}).stdout.decode()
    samples, locations = text.partition("Samples:\n")[2].partition("Locations\n")[::2]
    types, *lines = samples.splitlines()
    found = [([int(value) for value in values.split()], [int(one) for one in stack.split()])
             for values, _, stack in (line.partition(": ") for line in lines)]
    functions = {int(match[1]): {"name": match[3], "address": address_of(int(match[2], 16))}
                 for match in filter(None, map(LOCATION.match, locations.partition("Mappings\n")[0].splitlines()))}
    return types.replace("[dflt]", "").split(), found, functions, text


def pprof(case, name, raw):
    types, samples, functions, _ = pprof_raw(case.export(name, *["--raw"] * raw, to="pprof"))
    assert types[:2] == ["calls/count", "time/nanoseconds"], types
    figures, paths = {}, {}
    for values, stack in samples:
        path = tuple(functions[one]["name"] for one in reversed(stack))
        for to in (figures.setdefault(key_of(functions[stack[0]], "address"), {"calls": 0, "self": 0}),
                   paths.setdefault(path, {"calls": 0, "self": 0})):
            to["calls"] += values[0]
            to["self"] += values[1]
    return Reading("address", figures, paths)


def query(_, name, raw):
    """Uses `nopscope query` and the table `sums`."""
    before = "raw_" if raw else ""
    rows = exports.answer("query", name, "SELECT * FROM sums WHERE list = 'functions'")
    figures = {"calls": "calls", "total": f"{before}total_ns", "self": f"{before}self_ns"}
    figures |= {} if raw else {"min": "min_ns", "mean": "mean_ns", "max": "max_ns", "doubtful": "doubtful"}
    return Reading("address", {placed(row): {key: row[column] for key, column in figures.items()} for row in rows})


SUMS = {"graph": graph, "html": html, "folded": folded, "callgrind": callgrind, "pprof": pprof, "query": query}
