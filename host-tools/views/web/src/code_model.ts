// SPDX-License-Identifier: Apache-2.0
// The view's section `code`: the hottest functions' instructions. host-tools/views/page/code.cpp
// writes it. `at` counts a function's instructions from 0; each has 4 bytes, but for those in `short`.

export interface CodeFunction {
    function: number; // a position in View.functions
    address: string;
    instructions: number; // in the image
    shown: number; // number of instructions in `text`
    slot: boolean; // nopscope's 8 bytes precede the entry
    text: string; // "bl\t0x40080120", one instruction a line
    lines: { at: number[]; file: number[]; line: number[] }; // begins of source lines
    // Targets of branches; `name` is for those with function -1.
    targets: { at: number[]; function: number[]; offset: number[]; name: string[]; call: boolean[] };
    short?: number[]; // ascending: instructions of 2 bytes
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

// Where each instruction begins, in bytes from the function's address.
export function offsetsOf(code: CodeFunction): number[] {
    const shorts = new Set(code.short);
    const offsets = [0];
    for (let at = 0; at < code.shown; ++at) offsets.push(offsets[at] + (shorts.has(at) ? 2 : 4));
    return offsets;
}

// The direct calls of a function, by callee: their lines, each once. Calls through a pointer, and
// those of a function without lines, have none.
export function callLines(code: CodeFunction): Map<number, { file: number; line: number }[]> {
    const calls = new Map<number, { file: number; line: number }[]>();
    let next = 0;
    code.targets.at.forEach((at, i) => {
        if (!code.targets.call[i] || code.targets.offset[i] !== 0 || code.targets.function[i] < 0) return;
        while (next < code.lines.at.length && code.lines.at[next] <= at) ++next;
        const list = calls.get(code.targets.function[i]) ?? [];
        calls.set(code.targets.function[i], list);
        if (next === 0) return;
        const place = { file: code.lines.file[next - 1], line: code.lines.line[next - 1] };
        if (!list.some((one) => one.file === place.file && one.line === place.line)) list.push(place);
    });
    return calls;
}
