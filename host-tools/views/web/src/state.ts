// SPDX-License-Identifier: Apache-2.0
// What the page shows now, kept in the URL's fragment: a link to a page is a link to this view.

export interface State {
    view: string; // a tab's
    order: "callers" | "callees"; // a flame graph from the outermost caller, or from where time was spent
    down: "up" | "down"; // which way it grows
    zoom: string; // functions' keys from the root, separated by ";"; empty: all
    search: string;
    fn: string; // the function that was chosen: its key
    sort: string;
    range: string; // of the timeline, "from-to" in nanoseconds; empty: all
}

const initial: State = { view: "flame", order: "callers", down: "down", zoom: "", search: "", fn: "", sort: "self", range: "" };

export function read(): State {
    const state = { ...initial };
    for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
        if (key in state) (state as unknown as Record<string, string>)[key] = value;
    }
    return state;
}

// Only what differs from the beginning; `remember`: the browser's back goes to where it was.
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
