// SPDX-License-Identifier: Apache-2.0
// The selection: the part of the recording that all tabs show. The page's head has a button for each
// condition, which removes it. The engine makes the view of the selected calls.
import { found, make, patch } from "./dom";
import type { Engine, Part } from "./engine";
import { callsOf, type View } from "./model";
import { matcher } from "./search";
import type { State } from "./state";
import * as text from "./text";
import { exactTime } from "./timeline_draw";
import { taskOfTrack, type TimelineData, type Track } from "./timeline_model";

const conditions = ["time", "core", "task", "under"] as const;
export type Conditions = Pick<State, (typeof conditions)[number]>;
export const noConditions: Conditions = { time: "", core: "", task: "", under: "" };

// A pattern that matches this name. Patterns have no escape, and a shown name has some for bytes.
export function patternOf(name: string): string {
    return name.replace(/\*|\\x[0-9a-f]{2}/g, "?").replace(/\\u\{[0-9a-f]+\}/g, "*");
}

// The conditions that select a row of the table of tasks; null: no condition selects it.
export function ofTask(name: string): Partial<Conditions> | null {
    const core = /^\(core (\d+)\)$/.exec(name);
    if (core) return { core: core[1], task: "0" }; // the core's own context
    return /^\(.*\)$/.test(name) ? null : { task: patternOf(name) };
}

// Those that select a track's task: its name if no other task has it, else its context's number.
export function ofTrack(view: View, track: Track): Partial<Conditions> {
    if (view.tasks?.tasks.some(({ name, tasks }) => name === track.task && tasks === 1)) return { task: patternOf(track.task) };
    return { task: String(track.context), ...(track.context === 0 ? { core: String(track.core) } : {}) };
}

// Whether the selection has calls of a track, by its core and its task.
export function hasTrack({ core, task }: Conditions, track: Pick<Track, "core" | "context" | "task">): boolean {
    if (core !== "" && track.core >= 0 && Number(core) !== track.core) return false;
    if (task === "" || track.context < 0) return true;
    const names = [String(track.context), track.task, track.task.replace(/ (\d+|\(core \d+\))$/, "")];
    return names.some(matcher(task));
}

// The selected tracks of a question about calls. Nothing: all.
export function tracksIn(state: Conditions, { tracks }: TimelineData): { tracks?: number[] } {
    if (state.core + state.task === "") return {};
    return { tracks: tracks.flatMap((track, number) => (hasTrack(state, { ...track, task: taskOfTrack(track) }) ? [number] : [])) };
}

function partOf({ time, core, task, under }: Conditions): Part {
    const [from, to] = time.split("..");
    return { ...(time && { time: `${from}ns..${to}ns` }), ...(core && { core: Number(core) }), ...(task && { task }), ...(under && { under }) };
}

function timeText(time: string): string {
    const [from, to] = time.split("..").map(Number);
    return to > from ? `${exactTime(from, (to - from) / 1000)} to ${exactTime(to, (to - from) / 1000)}` : time;
}

// A number is a context's. The timeline names it.
function taskText(task: string, core: string, view: View | null): string {
    const named = (view?.timeline?.tracks ?? []).filter((track) => String(track.context) === task && (core === "" || String(track.core) === core));
    const names = new Set(named.map(({ name }) => name));
    return view?.timeline?.scheduler && names.size === 1 ? [...names][0] : task;
}

export class Selection {
    private asked = "{}"; // what the page shows, or waits for
    private shown = "{}"; // what the buttons say

    // `take` gets the view of the selected calls; null: all calls are shown.
    constructor(private readonly change: (by: Partial<Conditions>) => void, private readonly take: (part: View | null) => void) {
        found("unselect").onclick = () => change(noConditions);
    }

    // Until the view comes the page shows the view that it has; after a fault, all calls.
    // `fault`: why there will be no engine.
    show(state: State, whole: View | null, engine: Engine | null, fault: string): void {
        const part = partOf(state);
        const wanted = JSON.stringify(part);
        if (wanted !== this.shown) this.head(state, whole);
        this.shown = wanted;
        if (wanted === this.asked || (wanted !== "{}" && !engine && !fault)) return;
        this.asked = wanted;
        if (wanted === "{}") return this.take(null);
        if (!engine) return this.fail(fault);
        engine.view(part).then((view) => {
            if (wanted !== this.asked) return;
            this.say(`${text.count(callsOf(view))} calls:`);
            this.take(view);
        }, (error: Error) => wanted === this.asked && this.fail(error.message));
    }

    private fail(why: string): void {
        this.say(why);
        this.take(null);
    }

    private say(what: string): void {
        found("selected").textContent = what;
    }

    private head(state: State, whole: View | null): void {
        const said: Conditions = {
            time: timeText(state.time), core: `core ${state.core}`, task: `task ${taskText(state.task, state.core, whole)}`, under: `under ${state.under}`,
        };
        const had = found("conditions").contains(document.activeElement);
        const list = conditions.filter((one) => state[one] !== "");
        patch(found("conditions"), ...list.map((one) => {
            const button = make("button", { "data-key": one, title: `Remove from the selection: ${said[one]}`, "aria-label": `Remove ${said[one]}` },
                make("span", {}, said[one]), " ×");
            button.onclick = () => this.change({ [one]: "" });
            return button;
        }));
        found("selection").hidden = list.length === 0;
        this.say(list.length > 0 ? "…" : "");
        // The button that had the focus may be gone.
        if (had && !found("conditions").contains(document.activeElement)) {
            (found("conditions").querySelector("button") ?? document.querySelector<HTMLElement>('[role="tab"][tabindex="0"]'))?.focus();
        }
    }
}
