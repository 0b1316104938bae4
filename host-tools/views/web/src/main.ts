// SPDX-License-Identifier: Apache-2.0
import { showCalls } from "./calls";
import { functionColour } from "./colours";
import { WorkerEngine, type Engine } from "./engine";
import { empty, found, make, patch } from "./dom";
import { Events } from "./events";
import { Flame } from "./flame";
import { showFunctions } from "./functions";
import type { Served } from "./controls";
import { showKeys } from "./keys";
import { follow } from "./live";
import { callsOf, functionOf, keyOf, nameOf, type View } from "./model";
import { Opener } from "./opener";
import { selectedRange, type FoundCall, type PlacedCall, type Which } from "./placed_call";
import { patternFor, SearchField, type Matches } from "./search";
import { noConditions, patternOf, Selection, tracksIn, type Conditions } from "./selection";
import { initial, read, write, type State } from "./state";
import { RowMatches } from "./table";
import { Tabs } from "./tabs";
import { showTasks } from "./tasks";
import * as text from "./text";
import { Timeline } from "./timeline";
import { WithTracer } from "./with_tracer";
import { sampledPaths } from "./tree";

// The view is in the page, or its server has it. Null: this page has none until it opens a recording.
const inside = JSON.parse(found("data").textContent!) as View | Served | null;
const served = inside && "controls" in inside ? inside : null;
let whole = served ? null : (inside as View | null); // of all calls
let view = whole; // of the selected calls
const opening = found("opening").textContent!.trim();
const compared = whole?.compared; // this page compares two recordings
let engine: Engine | null = null; // once it has read the recording
let noEngine = compared ? "A page that compares selects nothing" : opening ? "" : "This page has no recording to select from"; // why there will be none
let version = 0; // counts views
let lasts = false; // another view may come
if (compared) initial.sort = "change";
let state = read();

const tabs = new Tabs(["flame", "timeline", "events", "functions", "calls", "tasks", "samples", "recording", "console"], (name) => change({ view: name, zoom: "" }));

function change(by: Partial<State>, remember = true): void {
    state = { ...state, ...by };
    write(state, remember);
    show();
}

const selection = new Selection(change, (part) => {
    view = part ?? whole;
    ++version;
    show();
});
const select = (by: Partial<Conditions>) => engine && change({ ...by, zoom: "" });
const selectUnder = (name: string) => select({ under: patternOf(name) });

const choose = (fn: number, of = view!) => {
    change({ view: "calls", fn: keyOf(of, fn) });
    found("calls").focus();
};
const zoomed = (zoom: string) => change({ zoom });
const naming = {
    name: (fn: number) => nameOf(view!, fn),
    key: (fn: number) => keyOf(view!, fn),
    colour: (fn: number) => functionColour(view!.functions[fn], state.colour),
};

const calls = new Flame(
    found("flame"),
    "Flame graph of the calls",
    { ...naming, columns: () => view!.paths, amount: text.time },
    zoomed,
    choose,
);
const samples = new Flame(
    found("samples"),
    "Flame graph of the samples",
    { ...naming, columns: () => sampledPaths(view!.paths), amount: (n) => `${text.count(n)} samples` },
    zoomed,
    choose,
);

const steps: Record<string, Matches> = { flame: calls, samples, functions: new RowMatches(found("functions")), tasks: new RowMatches(found("tasks")) };
// Moves the focus from the search field.
function enter(): void {
    const panel = found(state.view);
    (panel.querySelector<HTMLElement>("[aria-current] .name button, [tabindex='0']") ?? panel.querySelector<HTMLElement>("tbody .name button, button") ?? found("search")).focus();
}
const searching = new SearchField((search) => change({ search }, false), enter);
const showTracer = (shown: boolean) => change({ tracer: shown ? "shown" : "", range: "" });
const withTracer = new WithTracer(() => show(), (why) => {
    found("wrong").textContent = `The page cannot show the tracer's time: ${why}.`;
    showTracer(false);
});
let hasTracer = false; // the timeline's times
// Times on the other axis are others: no mark and no ruler stays.
function setAxis(other: Engine | null): void {
    if ((other !== null) !== hasTracer) timeline.forget();
    hasTracer = other !== null;
    if (engine) timeline.use(other ?? engine);
}
function showTimeline(): void {
    const other = state.tracer && engine ? withTracer.view(whole!) : null;
    setAxis(other?.engine ?? null);
    timeline.show(other?.view ?? whole!, other ? state : { ...state, tracer: "" });
    if (state.tracer && engine && !other) timeline.say("The page reads its recording again, with the tracer's own time…");
}
function timelineOf(which: "range" | "rangebefore", heading: string): Timeline {
    const host = make("section", compared ? { "aria-label": heading } : {}, ...(compared ? [make("h2", {}, heading)] : []));
    found("timeline").append(host);
    return new Timeline(host, (range) => change({ [which]: range }, false), (fn) => choose(fn, whole!), compared ? null : select, which === "range" ? 1 : 0.5, compared ? null : showTracer);
}
const before = compared ? { timeline: timelineOf("rangebefore", `Before: ${compared.before}`), view: { ...whole!, timeline: compared.timeline } } : null;
const timeline = timelineOf("range", compared ? `After: ${compared.after}` : "");
const showCall = (call: PlacedCall, answer?: FoundCall) => {
    setAxis(null);
    change({ view: "timeline", tracer: "", range: timeline.mark(call, answer) });
    found("timeline").querySelector("canvas")!.focus();
};
const events = new Events(found("events"), showCall, (fn) => choose(fn, whole!));
if (!opening) events.cannot("it has no recording");
// Shows a call of a function in the timeline; null: the page cannot. The engine does not know which calls are below a function.
const finder = () => (!engine || !whole?.timeline || state.under !== "" ? null : (of: number, which: Which) => {
    const fn = functionOf(whole!, keyOf(view!, of));
    const selected = view === whole ? {} : { ...selectedRange(state.time, whole!.timeline!), ...tracksIn(state, whole!.timeline!) };
    engine!.call({ ...selected, function: fn, which }).then((answer) => {
        if (answer.call) showCall({ ...answer.call, fn }, answer);
        else found("wrong").textContent = "The page does not have this call: it began or ended outside of what is selected, or only sums are left of it.";
    }, (error: Error) => (found("wrong").textContent = `The page cannot find the call: ${error.message}.`));
});

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
    found("tab-timeline").hidden = whole!.timeline === null;
    found("tab-events").hidden = whole!.timeline === null || !opening || compared !== undefined;
    found("tab-tasks").hidden = view.tasks === null;
}

function show(): void {
    selection.show(state, whole, engine, noEngine);
    document.body.classList.toggle("waiting", !inside && !view);
    found("welcome").hidden = inside !== null || view !== null;
    if (view) {
        showHead(view);
        document.body.dataset.calls = String(callsOf(view));
    }
    tabs.show(state.view);
    const flaming = state.view === "flame" || state.view === "samples";
    found("tools").hidden = !flaming;
    found("details").hidden = !flaming;
    found("order").textContent = state.order === "callers" ? "Invert: where time was spent first" : "From the outermost caller";
    found("down").textContent = state.down === "down" ? "Grow upwards" : "Grow downwards";
    found("matched").hidden = !flaming;
    found("colours").hidden = view?.paths.before !== undefined;
    found<HTMLSelectElement>("colour").value = state.colour;
    draw();
    searching.show(state.search, !(state.view in steps || state.view === "timeline" || state.view === "events"), view ? steps[state.view] ?? null : null);
}

function draw(): void {
    if (!view) {
        empty(found("flame"), "Nothing has been recorded yet.");
        return;
    }
    if (state.view === "flame") {
        if (view.paths.parent.length > 1) calls.show(state, version);
        else empty(found("flame"), "No call was recorded.");
    } else if (state.view === "samples") {
        if (view.sampled) samples.show(state, version);
    } else if (state.view === "timeline") {
        before?.timeline.show(before.view, { ...state, range: state.rangebefore, tracer: "" });
        showTimeline();
    } else if (state.view === "events") {
        if (whole!.timeline) events.show(whole!, state);
    } else if (state.view === "functions") {
        showFunctions(found("functions"), view, state, (sort) => change({ sort }, false), choose, finder(), selectUnder);
    } else if (state.view === "calls") {
        showCalls(found("calls"), view, state, (by) => change(by, false), choose, finder(), selectUnder);
    } else if (state.view === "tasks") {
        if (view.tasks) showTasks(found("tasks"), view, state, (tasksort) => change({ tasksort }, false), select);
    } else if (state.view === "recording") {
        showRecording(found("recording"), view);
    }
}

found("order").onclick = () => change({ order: state.order === "callers" ? "callees" : "callers", zoom: "" });
found("down").onclick = () => change({ down: state.down === "down" ? "up" : "down" });
found("reset").onclick = () => change({ zoom: "", search: "" });
found("subtree").onclick = () => {
    const fn = (state.view === "samples" ? samples : calls).function();
    if (fn >= 0) selectUnder(nameOf(view!, fn));
};
found("select-found").onclick = () => {
    const tasks = state.view === "tasks";
    const names = tasks ? whole?.tasks?.tasks ?? [] : whole?.functions.filter(({ calls }) => calls > 0) ?? [];
    const wanted = patternFor(state.search, names.map(({ name }) => name));
    if ("why" in wanted) found("wrong").textContent = wanted.why;
    else select(tasks ? { task: wanted.pattern } : { under: wanted.pattern });
};
found("help").onclick = showKeys;
found<HTMLSelectElement>("colour").onchange = (event) => change({ colour: (event.target as HTMLSelectElement).value as State["colour"] }, false);
addEventListener("popstate", () => {
    state = read();
    show();
});
addEventListener("keydown", (event) => {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test((event.target as Element).tagName)) return;
    if (event.key === "/") {
        event.preventDefault();
        searching.focus();
    } else if (event.key === "?") {
        showKeys();
    } else if (event.key === "Escape") {
        change({ zoom: "", search: "", range: "", rangebefore: "", ...noConditions });
    }
});
let settled = 0;
addEventListener("resize", () => {
    clearTimeout(settled);
    settled = setTimeout(show, 150);
});
if (!whole) found("title").textContent = "nopscope";
show();
let reader: WorkerEngine | null = null; // of the recording that is shown
function use(opened: WorkerEngine): void {
    engine = opened;
    timeline.use(opened);
    events.use(opened);
    document.body.dataset.engine = "ready"; // for the style, and for tests
    show(); // what a link has selected
}
interface Carried {
    recording?: string;
    options?: object;
    before?: Carried; // in a page that compares
}
const carried = JSON.parse(opening || "{}") as Carried;
const openingOf = ({ recording, options }: Carried) => ({ engine: found("engine").textContent!, recording: recording!, options: JSON.stringify(options) });
if (before && carried.before) {
    for (const [of, from] of [[timeline, carried], [before.timeline, carried.before]] as const) {
        const own = new WorkerEngine(openingOf(from));
        own.opened.then(() => of.use(own), (error: Error) => of.cannot(error.message));
    }
} else if (carried.recording) {
    const own = (reader = new WorkerEngine(openingOf(carried)));
    withTracer.use(openingOf(carried));
    own.opened.then(() => use(own), (error: Error) => {
        noEngine = error.message;
        timeline.cannot(noEngine);
        events.cannot(noEngine);
        show();
    });
}
const cannotOpen = compared ? "This page compares two recordings." : served ? "This page shows what its server reads." : opening ? "" : "This page cannot read recordings.";
new Opener(cannotOpen && `${cannotOpen} The page that nopscope html --viewer writes opens any recording.`, carried.options ?? {}, (opened, next, opening) => {
    reader?.end();
    reader = opened;
    engine = null; // until the page has forgotten the other recording
    if (view) write((state = { ...initial }), false);
    whole = view = next;
    noEngine = "";
    ++version;
    timeline.forget();
    withTracer.use(opening);
    show();
    use(opened);
});
if (served) {
    follow(served.controls, (next, more) => {
        if (view === whole) view = next;
        whole = next;
        lasts = more;
        ++version;
        show();
    });
}
