// SPDX-License-Identifier: Apache-2.0
// Headless Chromium for a test file, and what the tests read from a page.
//
//     suite("diff");      with CHROMIUM, NOPSCOPE, and for record() NOPSCOPE_CODEC_BENCH
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";

const { NOPSCOPE, NOPSCOPE_CODEC_BENCH, CHROMIUM } = process.env;

export const run = (...words) => execFileSync(words[0], words.slice(1), { encoding: "utf8", maxBuffer: 1 << 28 });
export const nopscope = (...words) => run(NOPSCOPE, ...words);
export const jsonOf = (...words) => JSON.parse(nopscope(...words, "--format", "json"));

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

export let directory, browser, page; // a directory and a browser of the test file, a page of the test
export const wrong = [];

// Prepares a directory, a browser and, for each test, a page, which must report no error. `prepare` runs once.
export function suite(name, prepare = () => {}, allowed = undefined) {
    directory = mkdtempSync(join(tmpdir(), `nopscope-${name}-`));
    before(async () => {
        browser = await launch();
        await prepare();
    });
    beforeEach(async () => (page = await newPage(browser, wrong, allowed)));
    afterEach(async () => {
        await page.close();
        assert.deepEqual(wrong.splice(0), []);
    });
    after(async () => {
        await browser?.close();
        rmSync(directory, { recursive: true, force: true });
    });
}

export const settled = (ms = 200) => page.waitForTimeout(ms);
export async function open(url) {
    await page.goto("about:blank");
    await page.goto(url.startsWith("/") ? `file://${url}` : url);
    await settled();
}
// The page forbids eval(), which Playwright's waitForFunction() needs.
export async function until(what, condition, seconds = 60) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(100)) {
        const value = await condition();
        if (value) return value;
    }
    assert.fail(`not within ${seconds} s: ${what}`);
}
export const text = (selector) => page.textContent(selector);
export const numberOf = (said) => Number(said.replaceAll(",", ""));
// The drawn frames. A zoom keeps the others in place, but without width.
export const frames = (graph = "#flame") => page.$$eval(`${graph} g.frame`, (all) => all.map((g) => {
    const rect = g.querySelector("rect");
    const colour = getComputedStyle(rect).fill.match(/\d+/g)?.slice(0, 3).map(Number);
    return { name: g.getAttribute("name"), width: Number(rect.getAttribute("width")), fill: rect.getAttribute("fill"), colour };
}));
export const frame = (name, graph = "#flame") => page.locator(`${graph} g.frame[name="${name}"]`).first();
// The rows of a table: the text of each cell, without what follows a function's name.
export const rowsOf = (table) => page.$$eval(`${table} tbody tr`, (all) =>
    all.map((row) => [...row.cells].map((cell) => (cell.firstChild ?? cell).textContent)));
// By function: its calls.
export const functions = async () => new Map((await rowsOf("#functions")).map((row) => [row.at(-1), numberOf(row[0])]));

// Events: [0 (begin) or 1 (end), function, ns]. Names: lines of number, size and name.
export function record(name, events, names) {
    const [calls, list, out] = ["ev13", "txt", "nsc"].map((suffix) => join(directory, `${name}.${suffix}`));
    writeFileSync(calls, Buffer.concat(events.map(([type, fn, at]) => {
        const bytes = Buffer.alloc(13);
        bytes.writeUInt8(type, 0);
        bytes.writeUInt32LE(fn, 1);
        bytes.writeBigUInt64LE(BigInt(at), 5);
        return bytes;
    })));
    writeFileSync(list, names);
    run(NOPSCOPE_CODEC_BENCH, calls, "--tick-hz", "1000000000", "--names", list, "--nsc", out);
    return out;
}
