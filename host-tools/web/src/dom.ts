// SPDX-License-Identifier: Apache-2.0
// Elements by one call. Text is always text: names come from outside.

type Child = Node | string;

export function make<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    attributes: Record<string, string> = {},
    ...children: Child[]
): HTMLElementTagNameMap[Tag] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

export function found<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
    const element = document.getElementById(id);
    if (!element) throw new Error(`the page has no ${id}`);
    return element as Kind;
}
