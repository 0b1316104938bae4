// SPDX-License-Identifier: Apache-2.0
// A function's instructions, below their source lines.
import { type CodeData, type CodeFunction, offsetsOf } from "./code_model";
import { make } from "./dom";
import { nameOf, type View } from "./model";
import * as text from "./text";

export function showCode(view: View, fn: number, chosen: (fn: number) => void): Node[] {
    const title = make("h3", {}, "Source and instructions");
    const code = view.code?.functions.find((one) => one.function === fn);
    if (!view.code) return [title, make("p", { class: "empty" }, "With --image ELF the page has the hottest functions' instructions and source lines.")];
    if (!code) {
        return [title, make("p", { class: "empty" }, `Not here: the page has the ${view.code.functions.length} functions in which most time was spent.`)];
    }
    return [title, ...remarks(view.code, code), listing(view, view.code, code, chosen)];
}

function remarks(data: CodeData, code: CodeFunction): Node[] {
    const said = [];
    const files = [...new Set(code.lines.file)];
    if (code.shown < code.instructions) said.push(`The first ${text.count(code.shown)} of ${text.count(code.instructions)} instructions.`);
    if (files.length === 0) said.push("The image has no line numbers for it.");
    else if (!data.source) said.push("Without the text of the source (--no-source).");
    else {
        data.source.refused.file.forEach((file, i) => {
            if (files.includes(file)) said.push(`${data.files[file]} is not shown: ${data.source!.refused.why[i]}.`);
        });
        for (const file of data.source.newer) {
            if (files.includes(file)) said.push(`${data.files[file]} was changed after the image was made: its lines may not be those.`);
        }
    }
    said.push("A line may appear several times, and out of order: that is how the compiler has arranged it.");
    return [make("p", { class: "empty" }, said.join(" "))];
}

function listing(view: View, data: CodeData, code: CodeFunction, chosen: (fn: number) => void): Node {
    const source = new Map<string, string>();
    data.source?.lines.line.forEach((line, i) => source.set(`${data.source!.lines.file[i]}:${line}`, data.source!.lines.text[i]));
    const rows: HTMLElement[] = [];
    const note = (said: string) => make("span", { class: "note" }, said);
    if (code.slot) {
        rows.push(make("div", { class: "own" }, make("span", { class: "offset" }, "-8"), make("span", { class: "text" }, make("b", {}, ".quad")),
            note("nopscope's: two NOPs in the file, the address of what traces the function once the target has booted")));
    }
    const notes = new Map(code.notes);
    const offsets = offsetsOf(code);
    const targets = new Map(code.targets.at.map((at, i) => [at, i]));
    let next = 0;
    code.text.split("\n").forEach((said, at) => {
        if (code.lines.at[next] === at) {
            const { file, line } = { file: code.lines.file[next], line: code.lines.line[next] };
            ++next;
            rows.push(make("div", { class: "line", title: `${data.files[file]}:${line}` },
                make("span", { class: "where" }, text.place(data.files[file], line)), make("span", { class: "text" }, source.get(`${file}:${line}`) ?? "")));
        }
        const [mnemonic, operands = ""] = said.split("\t");
        const row = make("div", { class: notes.has(at) ? "own" : "", "data-at": String(at) }, make("span", { class: "offset" }, `+${offsets[at].toString(16)}`),
            make("span", { class: "text" }, make("b", {}, mnemonic), ` ${operands}`));
        const to = targets.get(at);
        if (to !== undefined) row.append(link(view, code, to, chosen));
        if (notes.has(at)) row.append(note(notes.get(at)!));
        rows.push(row);
    });
    return make("div", { class: "code" }, ...rows);
}

function link(view: View, code: CodeFunction, at: number, chosen: (fn: number) => void): Node {
    const fn = code.targets.function[at];
    const offset = code.targets.offset[at];
    const behind = offset ? `+${offset.toString(16)}` : "";
    if (fn < 0) return make("span", { class: "note" }, code.targets.name[at] + behind);
    if (fn === code.function) {
        const jump = make("button", { class: "target" }, behind || "+0");
        jump.onclick = (event) => {
            const listing = (event.currentTarget as HTMLElement).closest(".code")!;
            for (const before of listing.querySelectorAll(".reached")) before.classList.remove("reached");
            const row = listing.querySelector(`[data-at="${offsetsOf(code).indexOf(offset)}"]`);
            row?.classList.add("reached");
            row?.scrollIntoView({ block: "center" });
        };
        return jump;
    }
    const call = make("button", { class: "target" }, nameOf(view, fn) + behind);
    call.onclick = () => chosen(fn);
    return call;
}
