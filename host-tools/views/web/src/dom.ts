// SPDX-License-Identifier: Apache-2.0
// Makes elements, and patches shown ones. Text is never markup, because names come from outside.

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

// Like host.replaceChildren(), but keeps existing elements with their focus, selected text and
// scroll position. An element with `data-key` is found by its key, any other by its position.
export function patch(host: Element, ...children: Child[]): void {
    const focused = document.activeElement;
    patchChildren(host, children);
    if (focused instanceof HTMLElement && focused !== document.activeElement && host.contains(focused)) {
        focused.focus({ preventScroll: true });  // a moved element loses its focus
    }
}

// Shows only a sentence.
export function empty(host: Element, why: string): void {
    patch(host, make("p", { class: "empty" }, why));
}

const keyOf = (node: Node) => (node instanceof HTMLElement ? node.dataset.key : undefined);

function patchChildren(host: Element, children: Child[]): void {
    const keyed = new Map<string, Element>();
    for (const child of host.children) {
        const key = keyOf(child);
        if (key !== undefined) keyed.set(key, child);
    }
    let at = host.firstChild;
    for (const child of children) {
        const wanted = typeof child === "string" ? document.createTextNode(child) : child;
        const key = keyOf(wanted);
        const known = key === undefined ? at : (keyed.get(key) ?? null);
        if (!known || known.nodeName !== wanted.nodeName || keyOf(known) !== key) {
            host.insertBefore(wanted, at);
            continue;
        }
        if (known === at) at = at.nextSibling;
        else host.insertBefore(known, at);
        become(known, wanted);
    }
    while (at) {
        const next = at.nextSibling;
        at.remove();
        at = next;
    }
}

function become(old: Node, wanted: Node): void {
    if (!(old instanceof HTMLElement) || !(wanted instanceof HTMLElement)) {
        if (old.nodeValue !== wanted.nodeValue) old.nodeValue = wanted.nodeValue;
        return;
    }
    for (const name of old.getAttributeNames()) {
        if (!wanted.hasAttribute(name)) old.removeAttribute(name);
    }
    for (const name of wanted.getAttributeNames()) {
        const value = wanted.getAttribute(name)!;
        if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    old.onclick = wanted.onclick;
    old.onkeydown = wanted.onkeydown;
    patchChildren(old, [...wanted.childNodes]);
}
