// SPDX-License-Identifier: Apache-2.0
// Opens a recording that is dropped on the page, or chosen. What is shown stays until the new one
// is read, and after a fault.
import { found, make } from "./dom";
import { WorkerEngine } from "./engine";
import type { Opening } from "./worker";
import type { View } from "./model";
import * as text from "./text";

// The engine's module gets 2 GiB, for the recording and for what is made of it.
const mostBytes = 1_500_000_000;

const size = (bytes: number) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${text.count(Math.round(bytes / 1e6))} MB`);

export class Opener {
    private readonly input = make("input", { type: "file", hidden: "", "aria-label": "Recording" });
    private reader: WorkerEngine | null = null; // of the file that is being read

    // `cannot`: why this page opens no file; empty: it does. `options`: of the engine.
    constructor(
        cannot: string,
        private readonly options: object,
        private readonly opened: (reader: WorkerEngine, view: View, opening: Opening) => void,
    ) {
        const drags = (event: DragEvent) => event.dataTransfer?.types.includes("Files");
        const mark = (over: boolean) => document.body.classList.toggle("dropping", over);
        addEventListener("dragover", (event) => {
            if (!drags(event)) return;
            event.preventDefault(); // else the browser leaves the page for the file
            mark(!cannot);
        });
        addEventListener("dragleave", (event) => event.relatedTarget || mark(false));
        addEventListener("drop", (event) => {
            if (!drags(event)) return;
            event.preventDefault();
            mark(false);
            const [file, another] = event.dataTransfer!.files;
            if (cannot) this.say(cannot, true);
            else if (another) this.say("One recording at a time: several files were dropped.", true);
            else if (file) void this.open(file);
        });
        if (cannot) return;
        document.body.append(this.input);
        this.input.onchange = () => {
            const file = this.input.files![0];
            if (file) void this.open(file);
            this.input.value = ""; // the same file may be chosen again
        };
        for (const button of ["open", "choose"]) found(button).onclick = () => this.input.click();
        found("open").hidden = false;
        addEventListener("keydown", (event) => {
            const { tagName } = event.target as Element;
            if (event.key !== "o" || event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(tagName)) return;
            this.input.click();
        });
    }

    private async open(file: File): Promise<void> {
        const what = `${file.name} (${size(file.size)})`;
        if (file.size > mostBytes) return this.say(`${what} was not opened: a page can read at most ${size(mostBytes)}. The nopscope command reads it.`, true);
        this.reader?.end();
        this.say(`Reading ${what}…`);
        this.announce(`Reading ${file.name}`); // once, not each percent
        const opening = { engine: found("engine").textContent!, recording: file, options: JSON.stringify({ ...this.options, file: file.name, title: "", functions: undefined }) };
        const reader = (this.reader = new WorkerEngine(
            opening,
            (share) => this.say(`Reading ${what}: ${Math.floor(share * 100)} %`),
        ));
        try {
            await reader.opened;
            const view = await reader.view({});
            const first = !found("welcome").hidden;
            this.opened(reader, view, opening);
            this.say("");
            this.announce(`${file.name} is open`);
            if (first) document.querySelector<HTMLElement>("[role=tab][tabindex='0']")!.focus(); // its button is gone
        } catch (error) {
            reader.end();
            const { message } = error as Error;
            this.say(`${file.name} was not opened: ${message.startsWith(`${file.name}: `) ? message.slice(file.name.length + 2) : message}`, true);
        }
        this.reader = null;
    }

    private say(sentence: string, wrong = false): void {
        const close = make("button", { "aria-label": "Close this message" }, "×");
        close.onclick = () => this.say("");
        found("reading").replaceChildren(sentence, ...(wrong ? [close] : []));
        found("reading").className = wrong ? "bad" : "";
        if (wrong) this.announce(sentence);
    }

    // For screen readers.
    private announce(sentence: string): void {
        found("announced").textContent = sentence;
    }
}
