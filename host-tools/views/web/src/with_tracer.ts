// SPDX-License-Identifier: Apache-2.0
// The timeline with the tracer's own time, on the target's clock. The page's times are without it, so
// another engine reads the recording again when this is first wanted.
import { WorkerEngine, type Engine } from "./engine";
import type { View } from "./model";
import type { Opening } from "./worker";

export class WithTracer {
    private opening: Opening | null = null; // of the page's engine
    private reader: WorkerEngine | null = null;
    private read: { view: View; engine: Engine } | null = null;

    // `ready`: view() has another answer. `failed` gets a sentence.
    constructor(private readonly ready: () => void, private readonly failed: (why: string) => void) {}

    // The next view is of this recording.
    use(opening: Opening): void {
        this.reader?.end();
        this.opening = opening;
        this.reader = this.read = null;
    }

    // Of the page's view. Null: not yet.
    view(of: View): { view: View; engine: Engine } | null {
        if (!this.reader && this.opening) void this.open(of, this.opening);
        return this.read;
    }

    private async open(of: View, { options, ...opening }: Opening): Promise<void> {
        const reader = (this.reader = new WorkerEngine({ ...opening, options: JSON.stringify({ ...(JSON.parse(options) as object), tracer: true }) }));
        try {
            await reader.opened;
            const timeline = await reader.timeline(0, Number.MAX_SAFE_INTEGER, 2048);
            if (reader !== this.reader) return; // another recording was opened
            this.read = { view: { ...of, timeline }, engine: reader };
            this.ready();
        } catch (error) {
            reader.end();
            if (reader !== this.reader) return;
            this.reader = null; // it may be wanted again
            this.failed((error as Error).message);
        }
    }
}
