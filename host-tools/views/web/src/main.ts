// SPDX-License-Identifier: Apache-2.0
import { showCalls } from "./calls";
import { empty, found, make, patch } from "./dom";
import { Flame } from "./flame";
import { showFunctions } from "./functions";
import type { Served } from "./controls";
import { follow } from "./live";
import { functionOf, keyOf, nameOf, type View } from "./model";
import { read, write, type State } from "./state";
import { showTasks } from "./tasks";
import * as text from "./text";
import { Timeline } from "./timeline";
import { sampledPaths } from "./tree";

// The view is in the page, or its server has it.
const inside = JSON.parse(found("data").textContent!) as View | Served;
let view: View | null = "controls" in inside ? null : inside;
let version = 0; // counts views
let lasts = false; // another view may come
let state = read();

const tabs: [string, string][] = [
    ["flame", "Flame graph"],
    ["timeline", "Timeline"],
    ["functions", "Functions"],
    ["calls", "Callers and callees"],
    ["tasks", "Tasks"],
    ["samples", "Samples"],
    ["recording", "Recording"],
    ["console", "Console"],
];

function change(by: Partial<State>, remember = true): void {
    state = { ...state, ...by };
    write(state, remember);
    show();
}

const choose = (fn: number) => change({ view: "calls", fn: keyOf(view!, fn) });
const zoomed = (zoom: string) => {
    state = { ...state, zoom };
    write(state, true);
};
const naming = { name: (fn: number) => nameOf(view!, fn), key: (fn: number) => keyOf(view!, fn) };

const calls = new Flame(
    found("flame"),
    { ...naming, columns: () => view!.paths, amount: text.time },
    zoomed,
    choose,
);
const samples = new Flame(
    found("samples"),
    { ...naming, columns: () => sampledPaths(view!.paths), amount: (n) => `${text.count(n)} samples` },
    zoomed,
    choose,
);

const timeline = new Timeline(found("timeline"), (range) => change({ range }, false), choose);

function showRecording(host: HTMLElement, view: View): void {
    const body = make("tbody");
    for (const fact of view.facts) {
        body.append(make("tr", { class: fact.spoils ? "spoils" : "" }, make("th", {}, fact.name), make("td", {}, fact.value)));
    }
    patch(host, make("table", { class: "recording" }, body));
}

function showHead(view: View): void {
    document.title = `${view.title} – nopscope`;
    found("title").textContent = view.title;
    found("headline").textContent = view.headline;
    found("state").textContent = view.complaint || (lasts ? "nothing missing" : "complete");
    found("state").className = view.complaint ? "bad" : "good";
    found("tab-samples").hidden = !view.sampled;
    found("tab-timeline").hidden = view.timeline === null;
    found("tab-tasks").hidden = view.tasks === null;
}

function show(): void {
    for (const [name] of tabs) {
        found(name).hidden = name !== state.view;
        found(`tab-${name}`).setAttribute("aria-selected", String(name === state.view));
    }
    const flaming = state.view === "flame" || state.view === "samples";
    found("tools").hidden = !flaming;
    found("details").hidden = !flaming;
    found("search").hidden = !flaming && !["functions", "timeline", "tasks"].includes(state.view);
    const search = found<HTMLInputElement>("search");
    if (search.value !== state.search) search.value = state.search;
    found("order").textContent = state.order === "callers" ? "Invert: where time was spent first" : "From the outermost caller";
    found("down").textContent = state.down === "down" ? "Grow upwards" : "Grow downwards";
    if (!view) {
        empty(found("flame"), "Nothing has been recorded yet.");
        return;
    }
    showHead(view);
    if (state.view === "flame") {
        if (view.paths.parent.length > 1) calls.show(state, version);
        else empty(found("flame"), "No call was recorded.");
    } else if (state.view === "samples") {
        if (view.sampled) samples.show(state, version);
    } else if (state.view === "timeline") {
        timeline.show(view, state);
    } else if (state.view === "functions") {
        showFunctions(found("functions"), view, state, (sort) => change({ sort }, false), choose);
    } else if (state.view === "calls") {
        showCalls(found("calls"), view, functionOf(view, state.fn), choose);
    } else if (state.view === "tasks") {
        if (view.tasks) showTasks(found("tasks"), view, state, (sort) => change({ sort }, false));
    } else if (state.view === "recording") {
        showRecording(found("recording"), view);
    }
}

for (const [name] of tabs) found(`tab-${name}`).onclick = () => change({ view: name, zoom: "" });
found("order").onclick = () => change({ order: state.order === "callers" ? "callees" : "callers", zoom: "" });
found("down").onclick = () => change({ down: state.down === "down" ? "up" : "down" });
found("reset").onclick = () => change({ zoom: "", search: "" });
found<HTMLInputElement>("search").oninput = (event) => change({ search: (event.target as HTMLInputElement).value }, false);
addEventListener("popstate", () => {
    state = read();
    show();
});
addEventListener("keydown", (event) => {
    const types = event.target instanceof HTMLInputElement && event.target !== found("search");
    if (types) return;
    if (event.key === "/" && event.target !== found("search")) {
        event.preventDefault();
        found("search").focus();
    } else if (event.key === "Escape") {
        change({ zoom: "", search: "", range: "" });
    }
});
let settled = 0;
addEventListener("resize", () => {
    clearTimeout(settled);
    settled = setTimeout(show, 150);
});
show();
if ("controls" in inside) {
    found("title").textContent = "nopscope";
    follow(inside.controls, (next, more) => {
        view = next;
        lasts = more;
        ++version;
        show();
    });
}
