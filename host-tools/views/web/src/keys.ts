// SPDX-License-Identifier: Apache-2.0
// The dialog that lists the page's keys.
import { found, make } from "./dom";

const lists: [string, [string, string][]][] = [
    ["Everywhere", [
        ["?", "these keys"],
        ["/", "to the search field"],
        ["o", "opens another recording"],
        ["F3, Shift+F3", "the next match, the previous one"],
        ["Esc", "show all: no zoom, no search, no range, no ruler, no selection"],
    ]],
    ["In the search field", [
        ["text", "finds a part of a name"],
        ["* and ?", "make it a pattern for the whole name"],
        ["/.../", "is a regular expression; /.../i without case"],
        ["Enter, Shift+Enter", "the next match, the previous one"],
        ["Esc", "leaves the field for the view"],
    ]],
    ["Tabs", [["← → Home End", "another tab"]]],
    ["Flame graphs", [
        ["↑ ↓", "to the parent or the widest child, as they are drawn"],
        ["← →", "to the frame beside it with the same parent"],
        ["Home", "to the root"],
        ["Enter", "zoom to the frame"],
        ["Backspace", "zoom out by one frame"],
        ["u", "select the frame's function: only its calls and the calls inside"],
        ["c", "callers and callees of the frame's function"],
    ]],
    ["Timeline", [
        ["w s, + -", "zoom in and out"],
        ["a d, ← →", "to the left and to the right"],
        ["↑ ↓", "scroll"],
        ["0, Home", "the whole recording"],
        ["n p", "the next call, the previous one, of the function under the pointer or of the marked call"],
        ["[ ]", "set A or B of the ruler: at the pointer, or in the middle"],
        ["t", "with the tracer's own time, or without it"],
        ["x", "select from A to B, or the shown range: all tabs show only its calls"],
    ]],
    ["Events", [
        ["↑ ↓ PageUp PageDown", "to another call"],
        ["Home End", "to the first call, the last one"],
        ["Enter", "show the call in the timeline"],
        ["c", "callers and callees of its function"],
    ]],
    ["Tables", [
        ["Enter on a head", "sort by the column; again: the other way"],
        ["↑ ↓", "to another row"],
        ["Enter", "the row's function"],
    ]],
];

export function showKeys(): void {
    const dialog = found<HTMLDialogElement>("keys");
    if (!dialog.hasChildNodes()) {
        const close = make("button", {}, "Close (Esc)");
        close.onclick = () => dialog.close();
        const columns = make("div", { class: "lists" }, ...lists.map(([title, keys]) => make("section", {}, make("h3", {}, title),
            make("dl", {}, ...keys.flatMap(([key, what]) => [make("dt", {}, key), make("dd", {}, what)])))));
        dialog.append(make("h2", { id: "keys-title" }, "Keys"), columns, close);
        // A key does nothing to the view behind it.
        dialog.onkeydown = (event) => event.stopPropagation();
    }
    dialog.showModal(); // the browser closes it by Esc, and gives the focus back
}
