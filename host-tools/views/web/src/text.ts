// SPDX-License-Identifier: Apache-2.0

const units: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
];

// Three digits and a unit: "1.23 ms".
export function time(ns: number | null): string {
    if (ns === null) return "–";
    for (const [size, unit] of units) {
        if (ns >= size * 0.9995) return `${(ns / size).toPrecision(3)} ${unit}`.replace(/e\+\d+/, "");
    }
    return `${Math.round(ns)} ns`;
}

// How often something comes that comes each `ns`: "1.50 kHz".
export function rate(ns: number): string {
    for (const [size, unit] of [[1e3, "MHz"], [1e6, "kHz"]] as const) {
        if (ns <= size) return `${((size / ns)).toPrecision(3)} ${unit}`.replace(/e\+\d+/, "");
    }
    return `${(1e9 / ns).toPrecision(3)} Hz`;
}

export function count(n: number): string {
    return n.toLocaleString("en-US");
}

export function percent(share: number): string {
    return `${(share * 100).toFixed(share >= 0.1 ? 1 : 2)} %`;
}

// The last two parts of a path: "src/lvm.c:1139".
export function place(file: string, line: number): string {
    return file ? `${file.split("/").slice(-2).join("/")}:${line}` : "";
}
