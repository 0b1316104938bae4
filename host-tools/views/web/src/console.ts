// SPDX-License-Identifier: Apache-2.0
// The end of the target's console text. It comes from outside, and is shown only as text.

const most = 1 << 16; // characters

export class Console {
    private text = "";

    constructor(private readonly host: HTMLElement) {}

    clear(): void {
        this.text = this.host.textContent = "";
    }

    // `begins`: the text before `more` is not known.
    add(more: string, begins: boolean): void {
        if (!more && this.text) return;
        const follows = this.host.scrollTop + this.host.clientHeight >= this.host.scrollHeight - 4;
        this.text = ((begins ? "" : this.text) + more).slice(-most);
        const shown = this.text || "The target has written nothing yet.";
        if (this.host.textContent !== shown) this.host.textContent = shown;
        if (follows) this.host.scrollTop = this.host.scrollHeight;
    }
}
