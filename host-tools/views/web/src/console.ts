// SPDX-License-Identifier: Apache-2.0
// The end of the target's console text. It comes from outside, and is shown only as text.

const most = 1 << 16; // characters

export class Console {
    private text = "";
    private follows = true; // the reader has not scrolled back

    constructor(private readonly host: HTMLElement) {
        host.onscroll = () => (this.follows = host.scrollTop + host.clientHeight >= host.scrollHeight - 4);
        // A hidden text cannot be scrolled: its tab shows the end when it is opened.
        new ResizeObserver(() => this.scroll()).observe(host);
    }

    private scroll(): void {
        if (this.follows) this.host.scrollTop = this.host.scrollHeight;
    }

    clear(): void {
        this.text = this.host.textContent = "";
    }

    // `begins`: the text before `more` is not known.
    add(more: string, begins: boolean): void {
        if (!more && this.text) return;
        this.text = ((begins ? "" : this.text) + more).slice(-most);
        const shown = this.text || "The target has written nothing yet.";
        if (this.host.textContent !== shown) this.host.textContent = shown;
        this.scroll();
    }
}
