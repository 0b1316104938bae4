# SPDX-License-Identifier: Apache-2.0
"""A small reader for each format. It uses the format's real reader if there is one. A reader
returns a Reading: what the format says of each function, and for event formats each call with its
stamps.

    readers.SUMS["pprof"](run), readers.EVENTS["ctf"](run)        with run = exports.Run("tasks")
"""

import collections
import csv
import dataclasses
import decimal
import json
import re

import exports
from exports import AWAY, TRACER

# How a format identifies a function. A field that the format lacks is None. Two functions of the
# same name differ in another field.
Function = collections.namedtuple("Function", "name file line address", defaults=(None,) * 3)
# Two formats are compared by the finest level that both have.
LEVELS = {"address": lambda of: (of.name, of.address), "place": lambda of: (of.name, of.file, of.line),
          "file": lambda of: (of.name, of.file), "name": lambda of: of.name}


@dataclasses.dataclass
class Reading:
    format: str
    level: str                    # a key of LEVELS
    figures: dict  # {Function: {"calls", "total", "self", "inclusive": numbers}}, or some of them
    paths: dict = None            # {names, the outermost first: {"calls", "self"}}
    calls: list = None            # of event formats: (core, Function, begin, end)
    failures: list = dataclasses.field(default_factory=list)
    spelt: object = str           # the format's spelling of a name


class Events(exports.Sums):
    """Sums by Function. It also keeps each call."""

    def __init__(self):
        super().__init__()
        self.ended = []
        self.open = collections.defaultdict(list)  # by track: (core, Function, begin)

    def begin(self, track, name, at, core=0):
        super().begin(track, name, at, core)
        self.open[track].append((core, name, at))

    def end(self, track, at, core=0, name=None):
        super().end(track, at, core, name)
        if self.open[track]:
            self.ended.append((*self.open[track].pop(), at))

    def reading(self, format_, level, spelt=str):
        figures = {}
        for of, calls in self.calls.items():
            function = of if isinstance(of, Function) else Function(of)
            figures[function] = {"calls": calls, "total": self.total[of], "self": self.self_[of]}
        open_ = [f"{track}: {len(stack)} calls do not end" for track, stack in self.open.items() if stack]
        return Reading(format_, level, figures, None, self.ended, self.failures + open_, spelt)


def function(name, *place):
    """A key of Sums. An entry that is no function has only a name."""
    return name if name in (TRACER, AWAY, AWAY.replace(" ", "_")) else Function(name, *place)


# The figures of `report` and `graph`.

def rows_of(report, raw):
    before = "" if raw else "corrected_"
    figures = {}
    for row in report["functions"] + report.get("interrupts", []):
        of = Function(row["name"], row["file"], row["line"], row["address"]) if "interrupt" not in row else \
            Function(f"(interrupt {row['interrupt']})", "", 0, None)
        figures[of] = {"calls": row["calls"], "total": row[before + "total_ns"], "self": row[before + "self_ns"],
                       "max": row[before + "max_ns"]}
        if not raw:
            figures[of] |= {"min": row["corrected_min_ns"], "mean": row["corrected_mean_ns"], "doubtful": row["doubtful"]}
    return figures


def report(run, raw=False):
    return Reading("report --raw" if raw else "report", "address", rows_of(run.report, raw))


def graph(run, raw=False):
    """Computes the functions' totals from the paths. A gap's time is in all paths around it, but
    counts once."""
    before = "" if raw else "corrected_"
    reading = by_path("graph --raw" if raw else "graph", "address",
                   [(node["id"], node["parent"], Function(node["name"], None, None, node["address"]), node["calls"],
                     node[before + "total_ns"], node[before + "self_ns"]) for node in run.graph])
    if has_gaps(run):
        for row in reading.figures.values():
            del row["total"]
    return reading


def has_gaps(run):
    return bool(run.report["gaps_list"])


def by_path(format_, level, nodes):
    """Adds up a tree's nodes (id, parent, function, calls, total, self), parents first."""
    figures, paths, at = {}, {}, {None: ()}
    for number, parent, of, calls, total, own in nodes:
        on_stack = at[parent]
        at[number] = on_stack + (of,)
        row = figures.setdefault(of, {"calls": 0, "total": 0, "self": 0, "inclusive": 0})
        row["calls"] += calls
        row["self"] += own
        row["inclusive"] += total or 0
        # A time counts once in a function's total, even if the function recurses.
        row["total"] += total if total is not None and of not in on_stack else 0
        path = paths.setdefault(tuple(one.name for one in at[number]), {"calls": 0, "self": 0})
        path["calls"] += calls
        path["self"] += own
    return Reading(format_, level, figures, paths)


# Sum formats.

PAGE_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def html(run):
    out = run.directory / f"{run.name}.html"
    exports.run(exports.NOPSCOPE, "html", run.recording, "-o", out)
    data = json.loads(PAGE_DATA.search(out.read_text(encoding="utf-8"))[1])
    functions = [Function(row["name"], row["file"], row["line"], row["address"]) for row in data["functions"]]
    paths = data["paths"]
    nodes = [(n, paths["parent"][n] or None, functions[paths["function"][n]], paths["calls"][n], paths["total"][n],
              paths["self"][n]) for n in range(1, len(paths["parent"]))]
    reading = by_path("html", "address", nodes)
    table = {functions[n]: {key: row[key] for key in ("calls", "total", "self")}
             for n, row in enumerate(data["functions"])}
    for of, row in table.items():
        if of in reading.figures:
            row["inclusive"] = reading.figures[of]["inclusive"]
            for key in ("calls", "self", *(() if has_gaps(run) else ("total",))):
                if row[key] != reading.figures[of][key]:
                    reading.failures.append(f"html: {key} of {of.name} is {row[key]} in the table and "
                                            f"{reading.figures[of][key]} in the paths")
    reading.figures = table
    return reading


def folded_lines(path):
    """Yields (functions, weight) of each line. As in flamegraph.pl, the last word is the number."""
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        stack, _, weight = line.rpartition(" ")
        yield tuple(stack.split(";")), int(weight)


def folded(run):
    paths, own = {}, collections.Counter()
    for path, weight in folded_lines(run.export("folded")):
        paths.setdefault(path, {"self": 0})["self"] += weight
        own[path[-1]] += weight
    return Reading("folded", "name", {Function(of): {"self": time} for of, time in own.items()}, paths)


COST = r" *([\d,]+)(?: \( *[\d.]+%\))? +"
# The costs of up to two events. A name begins in the column where a file's name does.
COSTS = re.compile(rf"^(?:{COST}|\. +)(?:(?:{COST}|\. +))?(\S.*)$")
CALLER = re.compile(rf"^{COST}< ([^:]*):(.*) \(([\d,]+)x\) \[\]$")
CALLEE = re.compile(rf"^{COST}\*  ([^:]*):(.*?)(?: \[\])?$")


def number(text):
    return int(text.replace(",", "")) if text else 0


def annotate(path, *options):
    """Returns {(file, function): its costs}, as callgrind_annotate prints them."""
    text = exports.run("callgrind_annotate", "--threshold=100", "--show-percs=yes", "--auto=no", *options,
                       path).stdout.decode()
    assert "PROGRAM TOTALS" in text
    found = {}
    for line in text.splitlines():
        match = COSTS.match(line)
        if match and match[3] != "PROGRAM TOTALS":
            file, _, name = match[3].removesuffix(" []").partition(":")
            costs = found.setdefault((file, name), [0, 0])
            costs[0] += number(match[1])
            costs[1] += number(match[2])
    return found


def calls_of_callees(path):
    """Returns {(caller's file and name, callee's): calls}, of "< caller (Nx)" above functions."""
    text = exports.run("callgrind_annotate", "--threshold=100", "--tree=caller", "--show=ns", "--auto=no",
                       path).stdout.decode()
    found, callers = collections.Counter(), []
    for line in text.splitlines():
        if caller := CALLER.match(line):
            callers.append(((caller[2], caller[3]), number(caller[4])))
        elif callee := CALLEE.match(line):
            for of, count in callers:
                found[of, (callee[2], callee[3])] += count
            callers = []
    return found


NO_FUNCTIONS = ("(callers lost in a gap)", "(paths beyond the tree's room)", "(of the target's profile)")


def callgrind(run):
    path = run.export("callgrind")
    figures = collections.defaultdict(lambda: {"calls": 0, "self": 0, "inclusive": 0})

    def row(file, name):
        return figures[Function(name, "" if file == "???" else file)]

    for of, costs in annotate(path).items():
        row(*of)["self"] = costs[0]
    for of, costs in annotate(path, "--inclusive=yes").items():
        row(*of)["inclusive"] = sum(costs)  # with the time away
    for (_, callee), calls in calls_of_callees(path).items():
        row(*callee)["calls"] += calls
    figures.pop(Function("(root)", ""), None)
    for of, figure in figures.items():
        # Readers need a number of calls with each cost, also for entries that are no functions.
        if of.name in NO_FUNCTIONS:
            figure["calls"] = 0
    return Reading("callgrind", "file", dict(figures))


LOCATION = re.compile(r"^ *(\d+): 0x([0-9a-f]+) M=1 (.*) ([^ ]*):(-?\d+) s=-?\d+$")


def pprof_raw(path, home):
    """`pprof -raw`: (types, samples as (values, locations), {location: Function}, the text)."""
    text = exports.run("go", "tool", "pprof", "-symbolize=none", "-raw", path,
                       env={"PATH": "/usr/bin:/bin", "HOME": str(home)}).stdout.decode()
    samples, locations = text.partition("Samples:\n")[2].partition("Locations\n")[::2]
    types, *lines = samples.splitlines()
    found = []
    for line in lines:
        values, _, stack = line.partition(": ")
        found.append(([int(value) for value in values.split()], [int(one) for one in stack.split()]))
    functions = {}
    for line in locations.partition("Mappings\n")[0].splitlines():
        if match := LOCATION.match(line):
            functions[int(match[1])] = Function(match[3], match[4], int(match[5]), f"0x{int(match[2], 16):x}")
    return types.replace("[dflt]", "").split(), found, functions, text


def pprof(run):
    types, samples, functions, _ = pprof_raw(run.export("pprof"), run.directory)
    assert types[:2] == ["calls/count", "time/nanoseconds"], types
    figures, paths = {}, {}
    for values, stack in samples:
        path = tuple(functions[one] for one in reversed(stack))
        for to in (figures.setdefault(path[-1], {"calls": 0, "self": 0}),
                   paths.setdefault(tuple(of.name for of in path), {"calls": 0, "self": 0})):
            to["calls"] += values[0]
            to["self"] += values[1]
    return Reading("pprof", "address", figures, paths)


# Event formats.

def chrome(run):
    return chrome_sums(chrome_data(run.export("chrome"))["traceEvents"], Events(), function).reading("chrome", "name")


def chrome_data(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def chrome_sums(events, sums, key):
    """Sorts events by time, and simultaneous ones as in the file, like Perfetto's importer."""
    cores = {event["tid"]: int(match[1]) for event in events if event["name"] == "thread_name"
             if (match := re.match(r"core (\d+)", event["args"]["name"]))}
    for event in sorted((event for event in events if event.get("cat") == "call"), key=lambda event: event["ts"]):
        at, tid, of = int(event["ts"] * 1000), event["tid"], key(event["name"])
        if event["ph"] == "B":
            sums.begin(tid, of, at, cores[tid])
        elif event["ph"] == "E":
            sums.end(tid, at, cores[tid], of)
        else:
            assert event["ph"] == "i", event
            sums.point(of)
    return sums


def csv_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def table(run):
    return csv_sums(csv_rows(run.export("csv")), Events(), lambda row: function(
        row["name"], row["file"], int(row["line"] or 0), address_of(int(row["address"] or "0", 0)))).reading("csv", "address")


def csv_sums(rows, sums, key):
    calls = ((f"{row['core']}.{row['context']}", int(row["core"]), key(row), int(row["begin_ns"]), int(row["end_ns"]),
              int(row["depth"]), int(row["self_ns"])) for row in rows if row["kind"] == "call")
    return nested(calls, map(key, (row for row in rows if row["kind"] == "point")), sums)


def address_of(value):
    return f"0x{value:x}" if value else None


def nested(calls, points, sums):
    """Adds calls with their depth and self time."""
    calls, own = list(calls), collections.Counter()
    exports.sums_of_calls((call[:6] for call in calls), sums)
    for call in calls:
        own[call[2]] += call[6]
    for of in points:
        sums.point(of)
    sums.failures += [f"the self times of {of} add up to {own[of]}, and by its calls to {sums.self_[of]}"
                      for of in own if own[of] != sums.self_[of]]
    return sums


def shell(path, sql):
    """Returns the sqlite3 shell's answer."""
    text = exports.run("sqlite3", "-json", "-readonly", path, sql).stdout.decode()
    return json.loads(text) if text else []


PLACE = "functions.name, functions.file, functions.line, functions.address"


def sqlite(run):
    return sqlite_sums(run.export("sqlite"), Events(), placed).reading("sqlite", "address")


def sqlite_sums(path, sums, key):
    rows = shell(path, f"SELECT track, core, {PLACE}, begin_ns, end_ns, depth, self_ns FROM calls "
                       "JOIN functions ON functions.id = function JOIN tracks ON tracks.id = track")
    points = shell(path, f"SELECT {PLACE} FROM points JOIN functions ON functions.id = function")
    return nested(((row["track"], row["core"], key(row), row["begin_ns"], row["end_ns"], row["depth"], row["self_ns"])
                   for row in rows), map(key, points), sums)


def placed(row):
    return function(row["name"], row["file"] or "", row["line"] or 0, address_of(row["address"]))


QUERY = """SELECT functions.name, functions.file, functions.line, functions.address, COUNT(*) AS calls,
       SUM(calls.self_ns) AS self, MAX(CASE WHEN calls.how IN ('returned', 'unwound') THEN named_calls.duration_ns END) AS max
  FROM named_calls JOIN calls ON calls.id = named_calls.id JOIN functions ON functions.id = calls.function GROUP BY functions.id"""


def query(run):
    """Uses `nopscope query` and the tables that docs/exports.md describes."""
    rows = json.loads(exports.run(exports.NOPSCOPE, "query", run.recording, QUERY, "--format", "json").stdout)
    return Reading("query", "address", {placed(row): {key: row[key] for key in ("calls", "self", "max")} for row in rows
                                        if isinstance(placed(row), Function)})


def query_sums(run, raw=False):
    """Uses `nopscope query` and the table `sums`."""
    before = "raw_" if raw else ""
    rows = json.loads(exports.run(exports.NOPSCOPE, "query", run.recording,
                                  "SELECT * FROM sums WHERE list = 'functions'", "--format", "json").stdout)
    figures = {"calls": "calls", "total": before + "total_ns", "self": before + "self_ns"}
    if not raw:
        figures |= {"min": "min_ns", "mean": "mean_ns", "max": "max_ns", "doubtful": "doubtful"}
    return Reading("query's raw sums" if raw else "query's sums", "address",
                   {placed(row): {key: row[column] for key, column in figures.items()} for row in rows})


CTF_LINE = re.compile(
    r"^\[(\d+)\.(\d{9})\] \(\+[^)]*\) ([a-z_]+): \{ cpu_id = (\d+) \}, \{ context = (\d+) \}, \{ (.*) \}$")
CTF_FUNCTION = re.compile(r'function = \( "((?:[^"\\]|\\.)*)" : container = (\d+) \)')


def ctf_events(path):
    """Returns ([(kind, nanoseconds, core, context, the text of its fields)], errors), as
    babeltrace2 prints them."""
    done, events = exports.run("babeltrace2", "--clock-seconds", path), []
    for line in done.stdout.decode().split("\n")[:-1]:
        match = CTF_LINE.match(line)
        assert match, line
        events.append((match[3], int(match[1]) * 10 ** 9 + int(match[2]), int(match[4]), int(match[5]), match[6]))
    return events, done.stderr.decode()


def ctf(run):
    events, _ = ctf_events(run.export("ctf"))
    places = {}
    for kind, _, _, _, fields in events:  # each function has one event, on the file's first core
        if kind == "function":
            places[CTF_FUNCTION.search(fields)[2]] = (re.search(r'file = "((?:[^"\\]|\\.)*)"', fields)[1],
                                                      int(re.search(r"line = (\d+)", fields)[1]))
    return ctf_sums(events, Events(), lambda name, number_: function(name, *places.get(number_, ("", 0)))).reading("ctf", "place")


def ctf_name(label):
    """Undoes the escapes: babeltrace2 prints a label as a string literal, as in the metadata."""
    return re.sub(r"\\(.)", r"\1", label)


def ctf_sums(events, sums, key):
    """`key`: gives the sums' key of a function's name and number."""
    for kind, at, core, context, fields in events:
        if kind not in ("entry", "return", "point"):
            continue
        label, number_ = CTF_FUNCTION.search(fields).groups()
        of = key(ctf_name(label), number_)
        if kind == "entry":
            sums.begin((core, context), of, at, core)
        elif kind == "return":
            sums.end((core, context), at, core, of)
        else:
            sums.point(of)
    return sums


def perfetto(run):
    import perfetto_test  # it decodes protoc's text form with clocks and interning
    trace = perfetto_test.Trace(run.export("perfetto"), Events(), function)
    return trace.sums.reading("perfetto", "name")


def speedscope(run):
    import speedscope_test
    data = json.loads(run.export("speedscope").read_text(encoding="utf-8"))
    frames = [function(frame["name"], frame.get("file", ""), frame.get("line", 0))
              for frame in data["shared"]["frames"]]
    return speedscope_test.add_calls(Events(), data, frames).reading("speedscope", "place")


KERNEL_LINE = re.compile(r"^ *core\d+/(\d+)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (\w+): +(.*)$")
KERNEL_ENTRY = re.compile(r"^func=(.*) depth=(\d+)$")
KERNEL_EXIT = re.compile(r"^func=(.*) depth=(\d+) overrun=0 calltime=([0-9a-f]+) rettime=([0-9a-f]+)$")


def kernel_name(name):
    return name.replace(" ", "_")


def trace_cmd(run):
    return trace_cmd_sums(run.export("trace-cmd"), Events(), function).reading("trace-cmd", "name", kernel_name)


def trace_cmd_sums(path, sums, key):
    """Reads events from `trace-cmd report`. `key`: gives the sums' key of a function's name."""
    begins = collections.defaultdict(list)
    text = exports.run("trace-cmd", "report", "-t", "-R", path).stdout.decode(errors="replace")
    for line in text.split("\n"):
        if not (match := KERNEL_LINE.match(line)):
            continue
        at, core, task, fields = int(match[4]) * 10 ** 9 + int(match[5]), int(match[3]), match[2], match[7]
        if match[6] == "funcgraph_entry":
            of, depth = KERNEL_ENTRY.match(fields).groups()
            if int(depth) != len(begins[task]):
                sums.failures.append(f"trace-cmd: {of} begins {depth} deep in {len(begins[task])} calls")
            begins[task].append(at)
            sums.begin(task, key(of), at, core)
        elif match[6] == "funcgraph_exit":
            of, depth, begin, end = KERNEL_EXIT.match(fields).groups()
            if int(depth) == len(begins[task]) - 1 and begins[task][-1] == int(begin, 16):
                if (begins[task].pop(), at) != (int(begin, 16), int(end, 16)):
                    sums.failures.append(f"trace-cmd: {of} at {at} has other times in its exit")
                sums.end(task, at, core, key(of))
            else:  # from a duration record
                sums.point(key(of))
        elif match[6] == "function":
            sums.point(key(re.match(r"^ip=(.*) parent_ip=", fields)[1]))
    return sums


UFTRACE_DUMP = re.compile(r"^(\d+)\.(\d{9}) +(\d+): \[(entry|exit )\] (.*)\(([0-9a-f]+)\) depth: (\d+)$")


def uftrace(run):
    """Tasks are numbered as tracks appear. The database has each one's core."""
    cores = {row["id"] + 1: row["core"] for row in shell(run.export("sqlite"), "SELECT id, core FROM tracks")}
    # Its addresses are invented: 16 bytes for each function.
    sums = uftrace_sums(run.export("uftrace"), cores, Events(), lambda name, address: function(name, None, None, address))
    return sums.reading("uftrace", "name")


def uftrace_sums(path, cores, sums, key):
    """Reads `uftrace dump`. `cores`: by task. `key`: the sums' key for a name and address."""
    text = exports.run("uftrace", "dump", "--no-pager", "--color=no", "--depth=32767", "-d", path).stdout.decode()
    events = [(int(match[1]) * 10 ** 9 + int(match[2]), int(match[3]), match[4], key(match[5], match[6]))
              for match in map(UFTRACE_DUMP.match, text.splitlines()) if match]
    for at, task, kind, of in sorted(events, key=lambda event: event[0]):
        if kind == "entry":
            sums.begin(task, of, at, cores[task])
        else:
            sums.end(task, at, cores[task], of)
    return sums


# A line of graph's text: calls, total, self, share, and the name, indented by two blanks for each
# call around it.
GRAPH_LINE = re.compile(r"^ *([\d,]+)((?:  +[\d.]+ [nµum]?s){2,3})  +[\d.]+ %  ( *)(\S.*)$")
UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}


def graph_text(run, nodes):
    """Returns the differences between the text of `graph` and its JSON, except for rounding to the
    digits shown."""
    text = exports.run(exports.NOPSCOPE, "graph", run.recording).stdout.decode()
    found = []
    for line in text.splitlines():
        if match := GRAPH_LINE.match(line):
            times = match[2].split()
            found.append((number(match[1]), [float(digits) * UNITS[unit] for digits, unit in zip(times[::2], times[1::2])],
                          len(match[3]) // 2, match[4]))
    failures = [] if len(found) == len(nodes) else [f"graph: the text has {len(found)} paths, JSON has {len(nodes)}"]
    for shown, node in zip(found, nodes):
        kinds = ["total", "cpu", "self"] if len(shown[1]) == 3 else ["total", "self"]  # "cpu" where there are tasks
        exact = (node["calls"], [node[f"corrected_{kind}_ns"] for kind in kinds], min(node["depth"], 60), node["name"])
        if (shown[0], *shown[2:]) != (exact[0], *exact[2:]) or \
                any(abs(a - b) > 0.06 * max(b, 1) for a, b in zip(shown[1], exact[1])):
            failures.append(f"graph: the text has {shown}, JSON has {exact}")
    return failures


SUMS = {"report": report, "graph": graph, "html": html, "folded": folded, "callgrind": callgrind, "pprof": pprof,
        "query": query_sums}
EVENTS = {"chrome": chrome, "csv": table, "ctf": ctf, "perfetto": perfetto, "speedscope": speedscope, "sqlite": sqlite,
          "trace-cmd": trace_cmd, "uftrace": uftrace, "query": query}
