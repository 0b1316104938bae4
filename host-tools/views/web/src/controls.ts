// SPDX-License-Identifier: Apache-2.0
// The commands for a target, as in `nopscope ctl` (docs/cli.md), with the answer as a sentence.
import { make } from "./dom";

// From the table of verbs: host-tools/command/verbs.hpp.
export interface Control {
    verb: string;
    help: string;
    chooses: boolean; // takes globs of functions
    takes_id: boolean;
    recorders: string[]; // the recorders to choose from; empty: none
    values: string[]; // the possible values of its argument; empty: none
}
// The data of a page that a server sends.
export interface Served {
    controls: Control[];
}

export class Controls {
    private readonly id = make("input", { type: "number", name: "id", min: "0", max: "33554431", value: "1", title: "Of a mark or a snapshot" });
    private readonly number = make("label", {}, "No. ", this.id);
    private readonly said = make("output", { id: "said" });

    constructor(
        private readonly host: HTMLFormElement,
        list: Control[],
        private readonly send: (request: object) => Promise<string>,
    ) {
        for (const control of list) this.host.append(...this.inputs(control));
        this.host.append(this.said);
        this.host.onsubmit = (event) => event.preventDefault();
    }

    show(takesCommands: boolean): void {
        this.host.hidden = !takesCommands;
    }

    private inputs(control: Control): HTMLElement[] {
        const { verb, values } = control;
        const label = verb[0].toUpperCase() + verb.slice(1);
        if (control.chooses) return this.filter(control, label);
        if (values.length) return this.setting(control, label);
        const button = make("button", { type: "button", title: control.help }, label);
        button.onclick = () => this.ask(control.takes_id ? [verb, this.id.value || "0"] : [verb]);
        return control.takes_id ? [button, this.number] : [button]; // behind the last of them
    }

    // Nothing is sent until the button is pressed.
    private setting({ verb, help, values }: Control, label: string): HTMLElement[] {
        const select = this.choice(verb, values);
        const button = make("button", { type: "button", title: help }, `Set ${verb}`);
        button.onclick = () => select.value && this.ask([verb, select.value]);
        return [make("label", {}, `${label} `, select), button];
    }

    private filter({ verb, help, recorders }: Control, label: string): HTMLElement[] {
        const globs = make("input", {
            type: "text", name: verb, placeholder: "luaV_* luaH_get", size: "24", autocomplete: "off", spellcheck: "false", title: help,
        });
        const recorder = this.choice("recorder", recorders);
        this.host.addEventListener("submit", () =>
            this.ask([verb, ...globs.value.split(/[\s,]+/).filter((glob) => glob !== "")], recorder.value));
        return [make("label", {}, `${label} `, globs), make("label", {}, "Recorder ", recorder), make("button", {}, "Apply")];
    }

    // The first option is "as it is": it changes nothing in the target.
    private choice(name: string, values: string[]): HTMLSelectElement {
        const select = make("select", { name }, make("option", { value: "" }, "as it is"));
        for (const value of values) select.append(make("option", {}, value));
        return select;
    }

    private ask(words: string[], recorder = ""): void {
        const what = words.join(" ");
        this.said.textContent = `${what} …`;
        this.send({ words, recorder })
            .catch(() => "nopscope serve does not answer")
            .then((answer) => (this.said.textContent = `${what}: ${answer}`));
    }
}
