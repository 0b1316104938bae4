// SPDX-License-Identifier: Apache-2.0
// What a page shows, all of it or, from a server, as of now: written by host-tools/views/page/view.cpp. Times are nanoseconds; lists that belong
// together are columns, as a recording may have many paths.

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
    min: number | null; // of calls that were seen from begin to end, as mean, max and bins
    mean: number | null;
    max: number | null;
    share: number; // of all functions' self, 0..1
    doubtful: boolean; // its self time may contain calls that are missing
    notes: string[]; // why its times may be short of the truth
    bins: [number, number][]; // calls whose duration is at least so many ns, ascending; empty: not known
}

// Parents come before their children; the first is the root and no function's.
export interface Paths {
    parent: number[];
    function: number[]; // a position in View.functions; or one of `special`
    calls: number[];
    total: number[];
    self: number[];
    samples: number[]; // taken just there
    before?: number[]; // self, in what this is compared with
}

export const special = new Map<number, string>([
    [-1, "all"],
    [-2, "(paths too short to show)"],
    [-3, "(tracer)"],
    [-4, "(other context)"],
    [-5, "(function unknown)"],
]);

export interface Fact {
    name: string;
    value: string;
    spoils: boolean;
}

export interface View {
    version: 1;
    title: string;
    headline: string;
    complaint: string; // what is wrong with the recording; empty: nothing
    facts: Fact[];
    duration: number;
    functions: FunctionData[]; // also those without calls: that only samples have seen, or that stand for no function
    paths: Paths;
    sampled: boolean; // there are samples
    timeline: TimelineData | null;
    code: CodeData | null; // where the image was at hand
}

export function nameOf(view: View, fn: number): string {
    return fn < 0 ? (special.get(fn) ?? "?") : view.functions[fn].name;
}

// A key that is the same for the same function in all views, and different for any other function:
// several functions may have one name. An entry that is no function has no address; its name is
// unique.
export function keyOf(view: View, fn: number): string {
    if (fn < 0) return String(fn);
    const { address, name } = view.functions[fn];
    return address === "0x0" ? name : address;
}

// The function of a key, or of a name in links that were written by hand; -1: there is none.
export function functionOf(view: View, key: string): number {
    const found = view.functions.findIndex((_, fn) => keyOf(view, fn) === key);
    return found >= 0 ? found : view.functions.findIndex(({ name }) => name === key);
}

// Of a function's calls by duration: the upper end of the bin that the fraction falls into, or null.
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
