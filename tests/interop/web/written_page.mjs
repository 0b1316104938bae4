// SPDX-License-Identifier: Apache-2.0
// A page, in headless Chromium, of a recording whose calls the test writes.
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

export const nopscope = (...words) => execFileSync(NOPSCOPE, words);

// `wrong` lists the errors that the page reports.
export async function openPage(name) {
    const directory = mkdtempSync(join(tmpdir(), `nopscope-${name}-`));
    const browser = await chromium.launch({
        executablePath: CHROMIUM,
        args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
    });
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, reducedMotion: "reduce" });
    const wrong = [];
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("request", (request) => /^(about|file|data):/.test(request.url()) || wrong.push(`asked for ${request.url()}`));
    return {
        page,
        wrong,
        file: join(directory, `${name}.html`),
        // Events: [0 (begin) or 1 (end), function, ns]. Names: lines of number, size and name.
        record(run, events, names) {
            const [calls, list, out] = ["ev13", "txt", "nsc"].map((suffix) => join(directory, `${run}.${suffix}`));
            writeFileSync(calls, Buffer.concat(events.map(([type, fn, at]) => {
                const record = Buffer.alloc(13);
                record.writeUInt8(type, 0);
                record.writeUInt32LE(fn, 1);
                record.writeBigUInt64LE(BigInt(at), 5);
                return record;
            })));
            writeFileSync(list, names);
            execFileSync(NOPSCOPE_REPORT_BENCH, [calls, "--tick-hz", "1000000000", "--names", list, "--nsc", out]);
            return out;
        },
        async close() {
            await browser.close();
            rmSync(directory, { recursive: true, force: true });
        },
    };
}
