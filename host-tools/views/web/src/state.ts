// SPDX-License-Identifier: Apache-2.0
// The page's state. The URL's fragment holds it, so a link to the page opens the same view.

export interface State {
    view: string; // name of the tab
    order: "callers" | "callees"; // from the outermost caller, or from where time was spent
    down: "up" | "down"; // the direction in which a flame graph grows
    zoom: string; // functions' keys from the root, separated by ";"; empty: all
    search: string;
    fn: string; // key of the chosen function
    sort: string; // order of the table of functions (table.ts), and of the other tables
    tasksort: string;
    callersort: string;
    calleesort: string;
    colour: "file" | "name"; // what decides a function's colour
    range: string; // of the timeline: "from-to" in nanoseconds; empty: all
    tracer: "" | "shown"; // the timeline has the tracer's own time
    rangebefore: string; // of that before the change, in a page that compares
    // What all tabs show (selection.ts). Empty: all.
    time: string; // "from..to" in nanoseconds since the first record
    core: string;
    task: string; // as --task has it
    under: string; // as --under has it
}

export const initial: State = {
    view: "flame", order: "callers", down: "down", zoom: "", search: "", fn: "", sort: "self", tasksort: "cpu_ns",
    callersort: "total", calleesort: "total", colour: "file", range: "", tracer: "", rangebefore: "", time: "", core: "", task: "", under: "",
};

export function read(): State {
    const state = { ...initial };
    for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
        if (key in state) (state as unknown as Record<string, string>)[key] = value;
    }
    return state;
}

// Writes only the values that are not initial. `remember`: adds an entry to the browser's history.
export function write(state: State, remember: boolean): void {
    const said = new URLSearchParams();
    for (const [key, value] of Object.entries(state)) {
        if (value !== (initial as unknown as Record<string, string>)[key]) said.set(key, value);
    }
    const hash = `#${said}`;
    if (hash === location.hash || (hash === "#" && !location.hash)) return;
    if (remember) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
}
