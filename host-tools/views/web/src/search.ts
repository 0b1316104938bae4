// SPDX-License-Identifier: Apache-2.0
// What the text in the search field finds, and the steps from match to match, for all views.
import { found } from "./dom";
import * as text from "./text";

export interface Search {
    active: boolean; // something is searched for
    finds: (name: string) => boolean;
    wrong: string; // a sentence about a wrong expression; empty: none
}

const nothing: Search = { active: false, finds: () => false, wrong: "" };
const escaped = (letters: string) => letters.replace(/[.+^${}()|[\]\\]/g, "\\$&");

// `/.../` and `/.../i` are regular expressions. A text with `*` or `?` is a glob of the whole name.
// Any other text is a part of the name. Globs and parts have no case.
export function searchFor(said: string): Search {
    if (said === "") return nothing;
    if (said[0] === "/") {
        const [, expression, flags] = /^\/(.*?)(?:\/(i?))?$/s.exec(said)!;
        if (expression === "") return nothing;
        return expressed(expression, flags ?? "");
    }
    if (/[*?]/.test(said)) return expressed(`^${escaped(said).replaceAll("*", ".*").replaceAll("?", ".")}$`, "is");
    const part = said.toLowerCase();
    return { active: true, finds: (name) => name.toLowerCase().includes(part), wrong: "" };
}

function expressed(expression: string, flags: string): Search {
    try {
        const compiled = new RegExp(expression, flags);
        return { active: true, finds: (name) => compiled.test(name), wrong: "" };
    } catch (error) {
        const why = (error as Error).message.split(": ").pop()!;
        return { ...nothing, wrong: `This is no regular expression: ${why[0].toLowerCase()}${why.slice(1)}.` };
    }
}

// Whether the names match a pattern, with case, as the options of the command do.
export function matcher(pattern: string): (name: string) => boolean {
    const compiled = new RegExp(`^${escaped(pattern).replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
    return (name) => compiled.test(name);
}

// The pattern for a selection of what the search finds among these names; or why there is none.
export function patternFor(said: string, names: string[]): { pattern: string } | { why: string } {
    if (said[0] === "/") return { why: "A regular expression cannot be selected. Search for a part of a name, or for a pattern with * and ?." };
    const parts = (/[*?]/.test(said) ? said : `*${said}*`).split(/([*?])/); // texts, and between them * and ?
    const matches = names.filter(searchFor(said).finds);
    if (matches.length === 0) return { why: "The search finds nothing to select." };
    // A search has no case, and a selection has: take the case of what is found.
    const texts = new RegExp(`^${parts.map((part, at) => (at % 2 === 0 ? `(${escaped(part)})` : part === "*" ? ".*" : ".")).join("")}$`, "is").exec(matches[0])!;
    const pattern = parts.map((part, at) => (at % 2 === 0 ? texts[at / 2 + 1] : part)).join("");
    const other = matches.find((name) => !matcher(pattern)(name));
    if (other === undefined) return { pattern };
    return { why: `A selection tells upper from lower case: ${matches[0]} and ${other} need two patterns.` };
}

// A view whose matches have an order.
export interface Matches {
    count(): number;
    at(): number; // the current match; -1: none
    go(match: number): void;
    mark(): void; // the view was drawn anew
}

export class SearchField {
    private readonly field = found<HTMLInputElement>("search");
    private matches: Matches | null = null;

    // `leave` moves the focus to the view.
    constructor(changed: (said: string) => void, leave: () => void) {
        this.field.oninput = () => changed(this.field.value);
        found("previous").onclick = () => this.step(-1);
        found("next").onclick = () => this.step(1);
        this.field.onkeydown = (event) => {
            if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
            if (event.key !== "Escape") return;
            event.preventDefault(); // the text stays
            event.stopPropagation();
            leave();
        };
        addEventListener("keydown", (event) => {
            if (event.key !== "F3" || !this.matches) return;
            event.preventDefault();
            this.step(event.shiftKey ? -1 : 1);
        });
    }

    focus(): void {
        this.field.focus();
        this.field.select();
    }

    // `matches`: of the view that is shown, if it can step.
    show(said: string, hidden: boolean, matches: Matches | null): void {
        found("searching").hidden = hidden;
        if (this.field.value !== said) this.field.value = said;
        const { active, wrong } = searchFor(said);
        this.matches = active ? matches : null;
        found("select-found").hidden = !active;
        this.field.setAttribute("aria-invalid", String(wrong !== ""));
        found("wrong").textContent = wrong;
        found("previous").hidden = found("next").hidden = !this.matches;
        this.matches?.mark();
        this.say();
    }

    private step(by: number): void {
        const count = this.matches?.count() ?? 0;
        if (count === 0) return;
        const at = this.matches!.at();
        this.matches!.go(at < 0 ? (by > 0 ? 0 : count - 1) : (at + by + count) % count);
        this.say();
    }

    private say(): void {
        const count = this.matches?.count() ?? 0;
        const at = this.matches?.at() ?? -1;
        const said = !this.matches ? "" : at < 0 ? `${text.count(count)} found` : `${text.count(at + 1)} of ${text.count(count)}`;
        if (found("count").textContent !== said) found("count").textContent = said; // a screen reader says it when it changes
    }
}
