// SPDX-License-Identifier: Apache-2.0
// node engine.mjs ENGINE: reads lines {"recording": path, "options": {...}, "questions": [...]} and writes for each a
// line {"answers": [...], "stopped": sentence or null, "pages": of memory}. Each line gets an instance of its own.
import fs from "node:fs";
import readline from "node:readline";

const engine = new WebAssembly.Module(fs.readFileSync(process.argv[2]));

class Stopped extends Error {}

// All that the engine imports (host-tools/views/engine/wasm.cpp). It writes to no file, and has no environment.
function imports(instance) {
    const refused = () => 52;  // ENOSYS
    return {
        nopscope: {
            stop(at, bytes) {
                throw new Stopped(text(instance(), at, bytes));
            },
            progress() {},
        },
        wasi_snapshot_preview1: {
            environ_get: () => 0,
            environ_sizes_get(count, bytes) {
                const view = new DataView(instance().memory.buffer);
                view.setUint32(count, 0, true);
                view.setUint32(bytes, 0, true);
                return 0;
            },
            fd_close: refused,
            fd_seek: refused,
            fd_write: refused,
            proc_exit(code) {
                throw new Error(`the engine ended itself: ${code}`);
            },
        },
    };
}

const text = ({ memory }, at, bytes) => new TextDecoder().decode(new Uint8Array(memory.buffer, at, bytes));

function open() {
    let exports = null;
    exports = new WebAssembly.Instance(engine, imports(() => exports)).exports;
    exports._initialize();
    return exports;
}

function put(exports, bytes) {
    const at = exports.nopscope_buffer(bytes.length);
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    return [at, bytes.length];
}

const answer = (exports) => text(exports, exports.nopscope_answer(), exports.nopscope_answer_bytes());

// Takes all memory that there is, so that the next call finds none.
function exhaust(exports) {
    for (let bytes = 2 ** 28; bytes >= 8; ) {
        if (exports.nopscope_buffer(bytes) === 0) bytes /= 2;
    }
}

function run({ recording, options, questions, exhausted }) {
    const exports = open();
    const answers = [];
    let stopped = null;
    const encoder = new TextEncoder();
    try {
        exports.nopscope_open(...put(exports, fs.readFileSync(recording)), ...put(exports, encoder.encode(JSON.stringify(options))));
        answers.push(answer(exports));
        for (const question of questions) {
            const asked = put(exports, encoder.encode(question));
            if (exhausted) exhaust(exports);
            exports.nopscope_ask(...asked);
            answers.push(answer(exports));
        }
    } catch (error) {
        if (!(error instanceof Stopped)) throw error;
        stopped = error.message;
    }
    return { answers, stopped, bytes: exports.memory.buffer.byteLength };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(run(JSON.parse(line))) + "\n");
}
