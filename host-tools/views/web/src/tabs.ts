// SPDX-License-Identifier: Apache-2.0
// The tabs, of which one is in the order of Tab; arrow keys, Home and End choose another.
import { found } from "./dom";

export class Tabs {
    constructor(private readonly names: string[], choose: (name: string) => void) {
        for (const name of names) {
            const [tab, panel] = [found(`tab-${name}`), found(name)];
            tab.setAttribute("role", "tab");
            tab.setAttribute("aria-controls", name);
            panel.setAttribute("role", "tabpanel");
            panel.setAttribute("aria-labelledby", tab.id);
            tab.onclick = () => choose(name);
            tab.onkeydown = (event) => {
                if (event.ctrlKey || event.altKey || event.metaKey) return;
                const shown = this.shown();
                const at = shown.indexOf(name);
                const to: Record<string, number> = { ArrowLeft: (at - 1 + shown.length) % shown.length, ArrowRight: (at + 1) % shown.length, Home: 0, End: shown.length - 1 };
                if (!(event.key in to)) return;
                event.preventDefault();
                event.stopPropagation(); // the timeline has these keys, too
                choose(shown[to[event.key]]);
                found(`tab-${shown[to[event.key]]}`).focus();
            };
        }
    }

    private shown(): string[] {
        return this.names.filter((name) => !found(`tab-${name}`).hidden);
    }

    // `chosen` may be no tab that this page shows. Then Tab leads to the first.
    show(chosen: string): void {
        const shown = this.shown();
        const reached = shown.includes(chosen) ? chosen : shown[0];
        for (const name of this.names) {
            const tab = found(`tab-${name}`);
            found(name).hidden = name !== chosen;
            tab.setAttribute("aria-selected", String(name === chosen));
            tab.tabIndex = name === reached ? 0 : -1;
        }
    }
}
