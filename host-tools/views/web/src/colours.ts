// SPDX-License-Identifier: Apache-2.0
// A function's colour, the same in all views and in all pages.
import type { FunctionData } from "./model";

const known = new Map<string, string>();

function hash(name: string): number {
    let sum = 2166136261;
    for (const letter of name) sum = Math.imul(sum ^ letter.codePointAt(0)!, 16777619);
    return Math.imul(sum ^ (sum >>> 15), 2246822507) >>> 0; // else similar names get similar hues
}

// `hue`: the text that decides the hue, anywhere on the circle. The name decides the lightness, which
// helps eyes that cannot tell hues apart. Dark text is readable on all of these colours.
export function colourOf(name: string, hue = name): string {
    const key = `${hue}\n${name}`;
    let colour = known.get(key);
    if (!colour) {
        colour = `oklch(${0.74 + 0.04 * (hash(name) % 4)} 0.1 ${Math.round((hash(hue) / 2 ** 32) * 360)})`;
        known.set(key, colour);
    }
    return colour;
}

// `by`: "file" or "name". A function of no known file has its name's colour.
export function functionColour({ name, file }: FunctionData, by: string): string {
    return colourOf(name, by === "file" && file ? file : name);
}

// A colour of the style for a canvas, with the current value of light-dark().
export function resolved(host: HTMLElement, name: string): string {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    host.append(probe);
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
}
