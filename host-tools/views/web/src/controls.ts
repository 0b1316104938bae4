// SPDX-License-Identifier: Apache-2.0
// What can be asked of a target, as `nopscope ctl` does (docs/cli.md); its answer, or its silence, is a sentence.
import { make } from "./dom";

const recorders = ["graph", "function", "profile", "duration", "sampled", "none"];
const modes = ["stream", "lossless", "flight", "adaptive"];

export class Controls {
    private readonly filter = make("input", {
        type: "text", name: "filter", placeholder: "luaV_* luaH_get", size: "24", autocomplete: "off", spellcheck: "false",
        title: "Names of functions, * and ? in them; empty: all",
    });
    private readonly recorder = this.choice("recorder", recorders, () => this.trace());
    private readonly mode = this.choice("mode", modes, (mode) => this.ask(["mode", mode]));
    private readonly id = make("input", { type: "number", name: "id", min: "0", max: "33554431", value: "1", title: "Of a mark or a snapshot" });

    private readonly said = make("output", { id: "said" });

    constructor(
        private readonly host: HTMLFormElement,
        private readonly send: (request: object) => Promise<string>,
    ) {
        const numbered = (word: string) => () => this.ask([word, this.id.value || "0"]);
        const plain = (word: string) => () => this.ask([word]);
        this.host.append(
            make("label", {}, "Trace only ", this.filter), make("button", {}, "Apply"),
            make("label", {}, "Recorder ", this.recorder), make("label", {}, "Mode ", this.mode),
            this.button("Mark", numbered("mark")), this.button("Snapshot", numbered("snapshot")), this.id,
            this.button("Start", plain("start")), this.button("Stop", plain("stop")), this.said,
        );
        this.host.onsubmit = (event) => {
            event.preventDefault();
            this.trace();
        };
    }

    show(takesCommands: boolean): void {
        this.host.hidden = !takesCommands;
    }

    private button(label: string, pressed: () => void): HTMLElement {
        const button = make("button", { type: "button" }, label);
        button.onclick = pressed;
        return button;
    }

    // Begins with "as it is", which leaves what the target does.
    private choice(name: string, values: string[], chosen: (value: string) => void): HTMLSelectElement {
        const select = make("select", { name }, make("option", { value: "" }, "as it is"));
        for (const value of values) select.append(make("option", {}, value));
        select.onchange = () => select.value && chosen(select.value);
        return select;
    }

    private trace(): void {
        const globs = this.filter.value.split(/[\s,]+/).filter((glob) => glob !== "");
        this.ask(["trace", ...globs], this.recorder.value);
    }

    private ask(words: string[], recorder = ""): void {
        const what = words.join(" ");
        this.said.textContent = `${what} …`;
        this.send({ words, recorder })
            .catch(() => "nopscope serve does not answer")
            .then((answer) => (this.said.textContent = `${what}: ${answer}`));
    }
}
