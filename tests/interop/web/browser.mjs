// SPDX-License-Identifier: Apache-2.0
// Headless Chromium, and pages of recordings whose calls the test writes.
//
//     const written = await openPage("diff");     with NOPSCOPE, NOPSCOPE_REPORT_BENCH and CHROMIUM
//     written.record("run", [[0, 1, 1000], [1, 1, 9000]], "1 8 main\n")
//     await written.close()
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const { NOPSCOPE, NOPSCOPE_REPORT_BENCH, CHROMIUM } = process.env;

export const run = (...words) => execFileSync(words[0], words.slice(1), { encoding: "utf8", maxBuffer: 1 << 28 });
export const nopscope = (...words) => run(NOPSCOPE, ...words);

export const launch = () => chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});

// `wrong` gets the errors that the page reports, and its requests beyond `allowed`.
export async function newPage(browser, wrong, allowed = /^(file|data):/) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, reducedMotion: "reduce" });
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("request", (request) => allowed.test(request.url()) || wrong.push(`asked for ${request.url()}`));
    return page;
}

export async function openPage(name) {
    const directory = mkdtempSync(join(tmpdir(), `nopscope-${name}-`));
    const browser = await launch();
    const wrong = [];
    return {
        page: await newPage(browser, wrong),
        wrong,
        file: join(directory, `${name}.html`),
        // Events: [0 (begin) or 1 (end), function, ns]. Names: lines of number, size and name.
        record(name, events, names) {
            const [calls, list, out] = ["ev13", "txt", "nsc"].map((suffix) => join(directory, `${name}.${suffix}`));
            writeFileSync(calls, Buffer.concat(events.map(([type, fn, at]) => {
                const record = Buffer.alloc(13);
                record.writeUInt8(type, 0);
                record.writeUInt32LE(fn, 1);
                record.writeBigUInt64LE(BigInt(at), 5);
                return record;
            })));
            writeFileSync(list, names);
            run(NOPSCOPE_REPORT_BENCH, calls, "--tick-hz", "1000000000", "--names", list, "--nsc", out);
            return out;
        },
        async close() {
            await browser.close();
            rmSync(directory, { recursive: true, force: true });
        },
    };
}
