// SPDX-License-Identifier: Apache-2.0
// Who answers questions about the recording (host-tools/views/engine/engine.hpp): a worker of this
// page, which has the recording.
import type { View } from "./model";
import type { Asked, CallsData, FoundCall, Which } from "./placed_call";
import type { TimelineData } from "./timeline_model";
import type { Answer, Opening, Progress, Question } from "./worker";

declare const workerCode: string; // worker.ts, from build.mjs

export interface Part {
    time?: string; // "10ns..20ns"
    core?: number;
    task?: string;
    under?: string;
}

export interface Engine {
    timeline(from: number, to: number, slots: number): Promise<TimelineData>;
    view(part: Part): Promise<View>;
    calls(question: Asked & { functions?: number[]; first: number; count: number }): Promise<CallsData>;
    // The next and the previous one of a call, or of a time.
    call(question: Asked & { function: number; which: Which; track?: number; depth?: number; begin?: number; duration?: number }): Promise<FoundCall>;
}

export class WorkerEngine implements Engine {
    private readonly worker: Worker;
    private readonly waiting = new Map<number, { done: (answer: unknown) => void; failed: (error: Error) => void }>();
    private asked = 0;
    readonly opened: Promise<void>;

    // `progress` gets the share of the recording that is read, 0..1.
    constructor(opening: Opening, progress: (share: number) => void = () => {}) {
        this.worker = new Worker(URL.createObjectURL(new Blob([workerCode], { type: "text/javascript" })));
        this.worker.onmessage = ({ data }: MessageEvent<Answer | Progress>) => ("read" in data ? progress(data.read) : this.take(data));
        this.worker.onerror = (event) => {
            for (const { failed } of this.waiting.values()) failed(new Error(event.message || "this browser does not run the page's engine"));
            this.waiting.clear();
        };
        this.opened = this.wait(0) as Promise<void>;
        this.worker.postMessage(opening);
    }

    timeline(from: number, to: number, slots: number): Promise<TimelineData> {
        return this.ask({ ask: "timeline", from, to, slots }) as Promise<TimelineData>;
    }
    view(part: Part): Promise<View> {
        return this.ask({ ask: "view", ...part }) as Promise<View>;
    }
    calls(question: object): Promise<CallsData> {
        return this.ask({ ask: "calls", ...question }) as Promise<CallsData>;
    }
    call(question: object): Promise<FoundCall> {
        return this.ask({ ask: "call", ...question }) as Promise<FoundCall>;
    }

    // Nobody gets an answer after this.
    end(): void {
        this.worker.terminate();
        this.worker.onmessage = this.worker.onerror = null;
        this.waiting.clear();
    }

    private ask(question: object): Promise<unknown> {
        const id = ++this.asked;
        const answer = this.wait(id);
        this.worker.postMessage({ id, text: JSON.stringify(question) } satisfies Question);
        return answer;
    }
    private wait(id: number): Promise<unknown> {
        return new Promise((done, failed) => this.waiting.set(id, { done, failed }));
    }
    private take({ id, text }: Answer): void {
        const waiting = this.waiting.get(id);
        this.waiting.delete(id);
        const answer = JSON.parse(text) as { error?: string };
        if (answer.error !== undefined) waiting?.failed(new Error(answer.error));
        else waiting?.done(answer);
    }
}
