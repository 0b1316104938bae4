// SPDX-License-Identifier: Apache-2.0
// The heads of the timeline's tracks: buttons over the canvas that select a track's core or its task.
import { make, patch } from "./dom";
import type { Conditions } from "./selection";
import { limitsOf } from "./timeline_charts";
import { axisHeight, headHeight, heightOf } from "./timeline_draw";
import type { Track } from "./timeline_model";

export class Heads {
    readonly host = make("div", { class: "heads" });
    private shown: unknown[] = [];

    constructor(private readonly select: (by: Partial<Conditions>) => void) {}

    // `top`: how far the tracks are scrolled. Without `ofTask` nothing can be selected.
    show(tracks: Track[], top: number, height: number, ofTask: ((track: Track) => Partial<Conditions>) | null): void {
        const shown = [tracks, top, height, ofTask];
        if (shown.every((value, at) => value === this.shown[at])) return;
        this.shown = shown;
        const heads = [];
        let y = -top;
        for (const track of tracks) {
            if (y > -headHeight && y < height - axisHeight) heads.push(this.head(track, y, ofTask));
            y += heightOf(track);
        }
        patch(this.host, ...heads);
    }

    private head(track: Track, y: number, ofTask: ((track: Track) => Partial<Conditions>) | null): HTMLElement {
        const button = (name: string, title: string, by: () => Partial<Conditions>) => {
            const made = make("button", { title, ...(ofTask ? {} : { disabled: "" }) }, name);
            made.onclick = () => this.select(by());
            return made;
        };
        const { core, chart } = track;
        const head = make("div", { "data-key": `${core} ${track.context} ${track.task}` },
            ...(core < 0 ? [] : [button(`core ${core}`, `Select core ${core}`, () => ({ core: String(core) }))]),
            ...(chart ? [make("span", { class: core < 0 ? "" : "after" }, `${core < 0 ? "" : ": "}${track.name}, `), make("span", { class: "limits" }, limitsOf(chart))]
                : [track.context < 0 ? " runs" : button(track.task, `Select the task of ${track.name}`, () => ofTask!(track))]));
        head.style.top = `${y}px`;
        return head;
    }
}
