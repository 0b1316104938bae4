// SPDX-License-Identifier: Apache-2.0
// The view's section `code`: the hottest functions' instructions. host-tools/views/page/code.cpp
// writes it. `at` counts a function's instructions from 0; each has 4 bytes.

export interface CodeFunction {
    function: number; // a position in View.functions
    address: string;
    instructions: number; // in the image
    shown: number; // number of instructions in `text`
    slot: boolean; // nopscope's 8 bytes precede the entry
    text: string; // "bl\t0x40080120", one instruction a line
    lines: { at: number[]; file: number[]; line: number[] }; // begins of source lines
    // Targets of branches; `name` is for those with function -1.
    targets: { at: number[]; function: number[]; offset: number[]; name: string[] };
    notes: [number, string][];
}

export interface CodeData {
    functions: CodeFunction[];
    files: string[];
    source: null | {
        lines: { file: number[]; line: number[]; text: string[] };
        refused: { file: number[]; why: string[] };
        newer: number[]; // files that are newer than the image
        cut: number; // lines beyond the page's limit
    };
}

// The direct calls of a function, by callee: their lines, each once. Calls through a pointer, and
// those of a function without lines, have none.
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
