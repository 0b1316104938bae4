// SPDX-License-Identifier: Apache-2.0
// The page of a server. It fetches the view again when it changes, and always shows the status.
// Events come each second; views come no faster than the page draws them.
import { Console } from "./console";
import { Controls, type Control } from "./controls";
import { found } from "./dom";
import type { View } from "./model";
import { showStatus, type Status } from "./status";

// Adds the token with which the page was opened, if any.
function address(path: string): string {
    const token = new URLSearchParams(location.search).get("token");
    return token === null ? path : `${path}?token=${encodeURIComponent(token)}`;
}

async function ask(request: object): Promise<string> {
    const answer = await fetch(address("request"), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(request),
    });
    if (!answer.ok) return (await answer.text()).trim();
    const { status, text } = (await answer.json()) as { status: number; text: string };
    return status === 0 ? text : `not done: ${text}`;
}

// Calls `show` for each view, and says whether more may come.
export function follow(list: Control[], show: (view: View, lasts: boolean) => void): void {
    let shown = 0; // the view's number
    let fetching = false;
    let paused = false;
    let notBefore = 0;
    let last: Status | null = null;
    const target = new Console(found("console"));
    const controls = new Controls(found<HTMLFormElement>("controls"), list, ask);

    const acts = {
        pause: () => {
            paused = !paused;
            say();
            void take();
        },
        // The next event says how it went.
        restart: () => void ask({ words: ["restart"] }).catch(() => ""),
        recording: address("recording"),
    };
    const say = () => last && showStatus(found("status"), last, last.source === found("title").textContent, paused, acts);

    async function take(): Promise<void> {
        if (!last || paused || fetching || last.view === shown || performance.now() < notBefore) return;
        fetching = true;
        try {
            const answer = await fetch(address("view"));
            if (answer.status === 200) {
                const view = (await answer.json()) as View;
                shown = Number(answer.headers.get("X-View"));
                const begun = performance.now();
                if (!paused) show(view, last.state !== "file");
                // If drawing takes long, the page leaves time for its user.
                notBefore = performance.now() + 4 * (performance.now() - begun);
            }
        } catch {
            // The next event will fail, and say that the server is gone.
        } finally {
            fetching = false;
        }
    }

    function connect(): void {
        const events = new EventSource(address("events"));
        events.onmessage = (event) => {
            last = JSON.parse(event.data as string) as Status;
            found("live").hidden = found("tab-console").hidden = last.state === "file";
            target.add(last.console, last.console_begins);
            controls.show(last.commands);
            say();
            void take();
        };
        events.onerror = () => {
            found("live").hidden = false;
            controls.show(false);
            last = null;
            found("status").textContent = "nopscope serve does not answer: has it ended? Trying again.";
            if (events.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
        };
        events.onopen = () => target.clear();
    }
    connect();
}
