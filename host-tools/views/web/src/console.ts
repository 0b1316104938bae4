// SPDX-License-Identifier: Apache-2.0
// The end of the target's console text. It comes from outside, and is shown only as text. The view
// follows new text until the reader scrolls up.
import { make } from "./dom";

const most = 1 << 16; // characters
const mostToRead = 1 << 20; // while the reader has scrolled up, so that the text does not move

export class Console {
    private text = "";
    private readonly shown: HTMLElement;
    private readonly button = make("button", { type: "button", hidden: "" }, "Follow");

    // `host` has a <pre>.
    constructor(host: HTMLElement) {
        this.shown = host.querySelector("pre")!;
        host.append(this.button);
        this.shown.onscroll = () => (this.button.hidden = this.isAtEnd());
        this.button.onclick = () => {
            this.button.hidden = true;
            this.scroll();
        };
        // A hidden text cannot be scrolled: its tab shows the end when it is opened.
        new ResizeObserver(() => this.scroll()).observe(this.shown);
    }

    private isAtEnd(): boolean {
        const { scrollTop, clientHeight, scrollHeight } = this.shown;
        return scrollTop + clientHeight >= scrollHeight - 4;
    }

    private get follows(): boolean {
        return this.button.hidden;
    }

    private scroll(): void {
        if (this.follows) this.shown.scrollTop = this.shown.scrollHeight;
    }

    clear(): void {
        this.text = this.shown.textContent = "";
    }

    // `begins`: the text before `more` is not known.
    add(more: string, begins: boolean): void {
        if (!more && this.text) return;
        this.text = ((begins ? "" : this.text) + more).slice(this.follows ? -most : -mostToRead);
        const shown = this.text || "The target has written nothing yet.";
        if (this.shown.textContent !== shown) this.shown.textContent = shown;
        this.scroll();
    }
}
