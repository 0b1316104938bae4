// SPDX-License-Identifier: Apache-2.0
// Runs the engine (host-tools/views/engine/wasm.cpp) beside the page. The page sends first the
// engine and the recording, then questions. Each gets its answer as text.

export interface Opening {
    engine: string; // gzip, base64
    recording: string | Blob; // text: base64
    options: string; // JSON
}
export interface Question {
    id: number;
    text: string;
}
export interface Answer {
    id: number; // 0: of the opening
    text: string; // JSON; {"error": sentence}
}
// Sent now and then before the opening's answer.
export interface Progress {
    read: number; // share of the recording, 0..1
}

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    nopscope_buffer(bytes: number): number;
    nopscope_open(recording: number, recordingBytes: number, options: number, optionsBytes: number): void;
    nopscope_ask(question: number, bytes: number): void;
    nopscope_answer(): number;
    nopscope_answer_bytes(): number;
}

class Stopped extends Error {}

const page = self as unknown as { postMessage(message: Answer | Progress): void; onmessage: (event: MessageEvent) => void };
let engine: Exports | null = null;
let stopped = ""; // why there is no engine
let opening = 0; // bytes of the recording while it is being opened

function bytesOf(base64: string): Uint8Array {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; ++at) bytes[at] = text.charCodeAt(at);
    return bytes;
}

function buffer(bytes: number): number {
    const at = engine!.nopscope_buffer(bytes);
    if (at === 0) throw new Stopped(bytes ? "the browser has no memory for the recording" : "the recording is empty");
    return at;
}

function give(bytes: Uint8Array): [number, number] {
    const at = buffer(bytes.length);
    new Uint8Array(engine!.memory.buffer, at, bytes.length).set(bytes);
    return [at, bytes.length];
}

// Part by part, so that there is only one copy of the file.
async function giveFile(file: Blob): Promise<[number, number]> {
    const at = buffer(file.size);
    let given = 0;
    const reader = file.stream().getReader();
    for (;;) {
        const { done, value } = await reader.read().catch((error: Error) => {
            throw new Stopped(`the browser cannot read the file: ${error.message}`);
        });
        if (done) return [at, given];
        new Uint8Array(engine!.memory.buffer, at + given, value.length).set(value);
        given += value.length;
    }
}

function answer(): string {
    return new TextDecoder().decode(new Uint8Array(engine!.memory.buffer, engine!.nopscope_answer(), engine!.nopscope_answer_bytes()));
}

// The engine uses no file: these functions of its C library fail. There is no environment.
function importsOf(module: WebAssembly.Module): WebAssembly.Imports {
    const imports: Record<string, Record<string, (...values: number[]) => number>> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 52; // ENOSYS
    imports.wasi_snapshot_preview1.environ_sizes_get = (...places) => {
        for (const at of places) new DataView(engine!.memory.buffer).setUint32(at, 0, true);
        return 0;
    };
    let told = performance.now();
    imports.nopscope = {
        progress: (bytes) => {
            if (opening && performance.now() > told + 100) {
                told = performance.now();
                page.postMessage({ read: bytes / opening });
            }
            return 0;
        },
        stop: (at, bytes) => {
            throw new Stopped(new TextDecoder().decode(new Uint8Array(engine!.memory.buffer, at, bytes)));
        },
    };
    return imports;
}

async function open(what: Opening): Promise<string> {
    const packed = new Response(bytesOf(what.engine)).body!.pipeThrough(new DecompressionStream("gzip"));
    const module = await WebAssembly.compile(await new Response(packed).arrayBuffer());
    engine = (await WebAssembly.instantiate(module, importsOf(module))).exports as unknown as Exports;
    engine._initialize();
    const [at, bytes] = typeof what.recording === "string" ? give(bytesOf(what.recording)) : await giveFile(what.recording);
    opening = bytes;
    engine.nopscope_open(at, bytes, ...give(new TextEncoder().encode(what.options)));
    opening = 0;
    return answer();
}

async function answerTo(message: Opening | Question): Promise<string> {
    try {
        if ("engine" in message) return await open(message);
        if (!engine) throw new Stopped(stopped);
        engine.nopscope_ask(...give(new TextEncoder().encode(message.text)));
        return answer();
    } catch (error) {
        engine = null; // its memory may be in any state
        stopped ||= error instanceof Stopped ? error.message : `the page's engine failed: ${String(error)}`;
        return JSON.stringify({ error: stopped });
    }
}

// One after the other: the opening takes a while.
let turn = Promise.resolve();
page.onmessage = ({ data }: MessageEvent<Opening | Question>) => {
    turn = turn.then(async () => page.postMessage({ id: "engine" in data ? 0 : data.id, text: await answerTo(data) }));
};
