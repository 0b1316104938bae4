// SPDX-License-Identifier: Apache-2.0
// The status of a line, shown in one line. host-tools/views/serve/ writes it.
import { make, patch } from "./dom";
import * as text from "./text";

export interface Core {
    number: number;
    records: number; // per second
    busy: number | null; // 0..1; null: no event came
}

export interface Status {
    source: string; // a line's URI, or a file
    state: "file" | "waiting" | "running" | "finished" | "lost" | "over" | "failed";
    stopped: boolean; // the target says that it does not trace
    mode: string; // as the target says; empty: it has not said
    recorder: string; // likewise
    restart: boolean; // the line has ended, and the request `restart` opens it again
    save: boolean; // there is a recording to save
    figures: string; // since when the figures count, and why; empty: since the begin
    sentence: string; // the reason for the state; may be empty
    note: string; // the last message for a person; may be empty
    resets: number;
    losses: number; // how often the line was lost
    commands: boolean; // the line accepts commands
    view: number; // number of the newest view; 0: none yet
    rates: { bytes: number; share: number | null; records: number; dropped: number; cores: Core[] } | null;
    dropped: number;
    lost: number;
    recording: string; // name of its file; may be empty
    console: string; // its text since the event before
    console_begins: boolean; // text before it was left out
}

const words = {
    file: "",
    waiting: "Waiting for the target",
    running: "Running",
    finished: "The target has finished",
    lost: "Line lost, trying again",
    over: "The line is over",
    failed: "Not going on",
};

const times = (n: number, what: string) => (n === 1 ? what : `${what} ${n} times`);
const bytes = (n: number) => (n >= 1e6 ? `${(n / 1e6).toFixed(1)} MB/s` : `${(n / 1e3).toFixed(1)} kB/s`);

function facts(of: Status): [string, string, boolean][] {
    const list: [string, string, boolean][] = [];
    const add = (name: string, value: string, spoils = false) => value && list.push([name, value, spoils]);
    if (of.rates && (of.state === "running" || of.state === "finished")) {
        add("records", `${text.count(Math.round(of.rates.records))}/s`);
        const share = of.rates.share === null ? "" : `, ${text.percent(of.rates.share)}`;
        add("line", bytes(of.rates.bytes) + share);
        for (const core of of.rates.cores) {
            if (core.busy !== null) add(`core ${core.number}`, `${Math.round(core.busy * 100)} % in traced calls`);
        }
    }
    if (of.state === "running") {
        add("mode", of.mode);
        add("recorder", of.recorder);
    }
    add("figures since", of.figures);
    if (of.dropped) {
        const rate = of.rates?.dropped ? `, ${text.count(Math.round(of.rates.dropped))}/s` : "";
        add("dropped", text.count(of.dropped) + rate, true);
    }
    if (of.lost) add("lost", text.count(of.lost), true);
    if (of.resets) add("target", times(of.resets, "was reset"), true);
    if (of.losses) add("line", times(of.losses, "was lost"), true);
    add("recording to", of.recording);
    return list;
}

const isStopped = (of: Status) => of.state === "running" && of.stopped;
const word = (of: Status) => (isStopped(of) ? "Tracing stopped" : words[of.state]);

// The reason, without the words that the state's name says already.
function reason(of: Status): string {
    const said = word(of).toLowerCase();
    return of.sentence.toLowerCase().startsWith(said) ? of.sentence.slice(said.length).replace(/^[:;,. ]+/, "") : of.sentence;
}

export interface Acts {
    pause: () => void;
    restart: () => void;
    recording: string; // address
}

// `titled`: the page's title names the source.
export function showStatus(host: HTMLElement, of: Status, titled: boolean, paused: boolean, acts: Acts): void {
    const list = make("dl", {});
    for (const [name, value, spoils] of facts(of)) {
        list.append(make("div", { class: spoils ? "spoils" : "" }, make("dt", {}, name), make("dd", {}, value)));
    }
    const button = (text: string, act: () => void) => {
        const made = make("button", { type: "button" }, text);
        made.onclick = act;
        return made;
    };
    const why = [reason(of), of.note].filter((part) => part !== "").join(" · ");
    patch(host,
        make("strong", { class: `state ${isStopped(of) ? "stopped" : of.state}` }, paused ? `${word(of)} (paused here)` : word(of)),
        ...(titled ? [] : [make("span", { class: "source" }, of.source)]),
        list,
        ...(why ? [make("span", { class: "why" }, why)] : []),
        ...(of.restart ? [button("Restart", acts.restart)] : []),
        button(paused ? "Go on" : "Pause", acts.pause),
        ...(of.save ? [make("a", { href: acts.recording, download: "" }, "Save recording")] : []),
    );
}
