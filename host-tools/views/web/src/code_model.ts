// SPDX-License-Identifier: Apache-2.0
// The view's section `code`, written by host-tools/views/page/code.cpp: the hottest functions' instructions. `at` counts a
// function's instructions from 0; each is 4 bytes.

export interface CodeFunction {
    function: number; // a position in View.functions
    address: string;
    instructions: number; // in the image
    shown: number; // of them: in `text`
    slot: boolean; // nopscope's 8 bytes are before the entry
    text: string; // "bl\t0x40080120", one a line
    lines: { at: number[]; file: number[]; line: number[] }; // where another line begins
    targets: { at: number[]; function: number[]; offset: number[]; name: string[] }; // of branches; function -1: `name`
    notes: [number, string][];
}

export interface CodeData {
    functions: CodeFunction[];
    files: string[];
    source: null | {
        lines: { file: number[]; line: number[]; text: string[] };
        refused: { file: number[]; why: string[] };
        newer: number[]; // files that were changed after the image was made
        cut: number; // lines that found no room
    };
}

// The direct calls of a function, by what is called: the lines that they are at, each once. Calls through a pointer are
// not known, and those of a function without lines have none.
export function callLines(code: CodeFunction): Map<number, { file: number; line: number }[]> {
    const text = code.text.split("\n");
    const calls = new Map<number, { file: number; line: number }[]>();
    let next = 0;
    code.targets.at.forEach((at, i) => {
        if (!text[at].startsWith("bl\t") || code.targets.offset[i] !== 0 || code.targets.function[i] < 0) return;
        while (next < code.lines.at.length && code.lines.at[next] <= at) ++next;
        const list = calls.get(code.targets.function[i]) ?? [];
        calls.set(code.targets.function[i], list);
        if (next === 0) return;
        const place = { file: code.lines.file[next - 1], line: code.lines.line[next - 1] };
        if (!list.some((one) => one.file === place.file && one.line === place.line)) list.push(place);
    });
    return calls;
}
