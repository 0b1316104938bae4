// SPDX-License-Identifier: Apache-2.0
// A hue that depends on the name, so that a function has the same colour everywhere.
export function colourOf(name: string): string {
    let hash = 2166136261;
    for (const letter of name) hash = Math.imul(hash ^ letter.codePointAt(0)!, 16777619);
    const at = (hash >>> 0) / 2 ** 32;
    return `hsl(${20 + at * 38} ${62 + ((hash >>> 9) % 20)}% ${58 + ((hash >>> 17) % 12)}%)`;
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
