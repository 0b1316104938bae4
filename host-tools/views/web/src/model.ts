// SPDX-License-Identifier: Apache-2.0
// The view that a page shows, from host-tools/views/page/view.cpp. Times are nanoseconds. Lists are
// columns, because there may be many paths. A server updates its view.

import type { CodeData } from "./code_model";
import type { TimelineData } from "./timeline_model";

export interface FunctionData {
    name: string;
    file: string; // empty: unknown
    line: number;
    address: string;
    calls: number;
    total: number;
    self: number;
    min: number | null; // of calls seen from begin to end, like mean, max and bins
    mean: number | null;
    max: number | null;
    share: number; // of all functions' self time, 0..1
    doubtful: boolean; // its self time may contain missing calls
    notes: string[]; // why its times may be too short
    bins: [number, number][]; // [least duration in ns, calls], ascending; empty: not known
    change?: Change | null; // of a page that compares; null: it was called on neither side
}

// Of a function's self time.
export interface Change {
    before: number | null; // null: it is new
    ns: number;
    p: number | null; // that chance alone changes it so much; null: not tested
}

// Parents precede their children. The first path is the root, which has no function.
export interface Paths {
    parent: number[];
    function: number[]; // a position in View.functions, or a number of `special`
    calls: number[];
    total: number[];
    self: number[];
    samples: number[]; // taken in this path itself
    before?: number[]; // self, in the compared recording
}

export const special = new Map<number, string>([
    [-1, "all"],
    [-2, "(paths too short to show)"],
    [-3, "(tracer)"],
    [-4, "(other context)"],
    [-5, "(function unknown)"],
]);

// A task, or all tasks of one name. As `nopscope tasks --format json` (docs/cli.md).
export interface TaskData {
    name: string;
    tasks: number; // of this name
    priority: number | null; // null: not told, or several
    cpu_ns: number;
    share: number; // of the CPU time of all tasks, 0..1
    runs: number;
    preempted: number;
    blocked: number;
    gave_way: number;
    ready_ns: number;
    blocked_ns: number;
    longest_wait: { ns: number; core: number; behind: string | null } | null;
    waited_for: { name: string; waits: number; blocked_ns: number }[];
    stack_bytes: number | null;
    stack_used: number | null;
}

export interface TasksData {
    tasks: TaskData[];
    cores: { core: number; cpu_ns: number; idle_ns: number }[];
}

export interface Fact {
    name: string;
    value: string;
    spoils: boolean;
}

// The recordings whose timelines a page compares.
export interface Compared {
    before: string; // names
    after: string;
    timeline: TimelineData; // of the one before
}

export interface View {
    version: 1;
    title: string;
    headline: string;
    complaint: string; // a fault of the recording; empty: none
    facts: Fact[];
    duration: number;
    functions: FunctionData[]; // also those without calls: seen by samples only, or no function
    paths: Paths;
    sampled: boolean; // there are samples
    tasks: TasksData | null; // null: the target told of none
    timeline: TimelineData | null;
    code: CodeData | null; // null: the image was not available
    compared?: Compared; // of a page that compares; `timeline` is that after the change
}

export const callsOf = (view: View) => view.functions.reduce((sum, { calls }) => sum + calls, 0);

export function nameOf(view: View, fn: number): string {
    return fn < 0 ? (special.get(fn) ?? "?") : view.functions[fn].name;
}

// A key that identifies a function in all views, because several functions may have one name. An
// entry that is no function has no address; its name is unique.
export function keyOf(view: View, fn: number): string {
    if (fn < 0) return String(fn);
    const { address, name } = view.functions[fn];
    return address === "0x0" ? name : address;
}

// The function with this key, or with this name in a link that a person wrote; -1: none.
export function functionOf(view: View, key: string): number {
    const found = view.functions.findIndex((_, fn) => keyOf(view, fn) === key);
    return found >= 0 ? found : view.functions.findIndex(({ name }) => name === key);
}

// A percentile of a function's durations: the upper end of its bin, or null.
export function percentile(of: FunctionData, fraction: number): number | null {
    const all = of.bins.reduce((sum, [, count]) => sum + count, 0);
    let below = 0;
    for (let at = 0; at < of.bins.length; ++at) {
        below += of.bins[at][1];
        if (below >= fraction * all) {
            const end = at + 1 < of.bins.length ? of.bins[at + 1][0] : of.max ?? Infinity;
            return Math.min(end, of.max ?? end);
        }
    }
    return null;
}
