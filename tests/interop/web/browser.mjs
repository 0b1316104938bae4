// SPDX-License-Identifier: Apache-2.0
// Headless Chromium, and pages of recordings whose calls the test writes.
//
//     const written = await openPage("diff");     with NOPSCOPE, NOPSCOPE_REPORT_BENCH and CHROMIUM
//     written.record("run", [[0, 1, 1000], [1, 1, 9000]], "1 8 main\n")
//     await written.close()
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { chromium } from "playwright-core";

const { NOPSCOPE, NOPSCOPE_REPORT_BENCH, CHROMIUM } = process.env;

export const run = (...words) => execFileSync(words[0], words.slice(1), { encoding: "utf8", maxBuffer: 1 << 28 });
export const nopscope = (...words) => run(NOPSCOPE, ...words);

export const launch = () => chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});

// `wrong` gets the errors that the page reports, and its requests beyond `allowed`.
export async function newPage(browser, wrong, allowed = /^(file|data|blob):/) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, reducedMotion: "reduce" });
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("request", (request) => allowed.test(request.url()) || wrong.push(`asked for ${request.url()}`));
    return page;
}

// For a file of tests: before each of them `hand` gets a new page. After it the page must have reported
// no error and asked for nothing. Returns a directory, which is removed at the end.
export function eachTestHasAPage(name, hand) {
    const directory = mkdtempSync(join(tmpdir(), `nopscope-${name}-`));
    const wrong = [];
    let browser, page;
    before(async () => {
        browser = await launch();
    });
    after(async () => {
        await browser?.close();
        rmSync(directory, { recursive: true, force: true });
    });
    beforeEach(async () => {
        hand((page = await newPage(browser, wrong)));
    });
    afterEach(async () => {
        await page.close();
        assert.deepEqual(wrong.splice(0), []);
    });
    return directory;
}

// page.url() learns late what the page has written there.
export const addressOf = (page) => page.evaluate(() => location.href);

// The page's policy forbids what page.waitForFunction() does.
export async function until(page, holds, argument) {
    const end = Date.now() + 60_000;
    while (!(await page.evaluate(holds, argument))) {
        assert.ok(Date.now() < end, `${holds}, with ${argument}`);
        await page.waitForTimeout(30);
    }
}

// The lines of `nopscope export --format csv`, whose cells may be in quotes and have any letter.
export function* cellsOf(csv) {
    let line = [];
    for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
        line.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
        if (end === ",") continue;
        yield line;
        line = [];
    }
}
// What the times of the page's timeline count from. A masked time is an event when it ends.
export function firstEvent(lines) {
    const place = { call: 4, point: 4, mark: 4, counter: 4, events: 4, masked: 5 };
    return lines.reduce((first, line) => (line[0] in place ? Math.min(first, Number(line[place[line[0]]])) : first), Infinity);
}

// The page's engine has the recording, and the timeline what it asked for.
export const drawn = (page) =>
    until(page, () => document.body.dataset.engine === "ready" && !document.querySelector("#timeline canvas").dataset.waits);

// Writes a recording with these events, [0 (begin) or 1 (end), function, ns], and names, lines of number,
// size and name.
export function record(directory, name, events, names) {
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
}

export async function openPage(name) {
    const directory = mkdtempSync(join(tmpdir(), `nopscope-${name}-`));
    const browser = await launch();
    const wrong = [];
    return {
        page: await newPage(browser, wrong),
        wrong,
        file: join(directory, `${name}.html`),
        record: (name, events, names) => record(directory, name, events, names),
        async close() {
            await browser.close();
            rmSync(directory, { recursive: true, force: true });
        },
    };
}
