// SPDX-License-Identifier: Apache-2.0
// Pages of invented recordings in headless Chromium: the differential flame graph that `diff --html` writes, and functions of the same
// name, such as static ones of several files, where each row, frame and link belongs to one of them.
//
//     node --test invented_test.mjs, with NOPSCOPE, NOPSCOPE_CODEC_BENCH and CHROMIUM
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { directory, frame, frames, nopscope, open, page, record, rowsOf, settled, suite, text, until } from "./browser.mjs";

// One call of main with these calls inside: [function, ns].
function recording(name, calls) {
    let now = 1000;
    const inside = calls.flatMap(([fn, length]) => [[0, fn, now], [1, fn, (now += length)]]);
    return record(name, [[0, 1, 1000], ...inside, [1, 1, now + 1000]], "1 8 main\n2 10 slower\n3 18 faster\n4 20 same\n5 28 fresh\n6 30 gone\n");
}

suite("invented", () => {
    const old = recording("old", [[2, 10_000], [3, 30_000], [4, 20_000], [6, 5_000]]);
    const now = recording("now", [[2, 30_000], [3, 20_000], [4, 20_000], [5, 10_000]]);
    nopscope("diff", old, now, "--html", join(directory, "diff.html"));
    // main calls two functions named init: a long call of one with a callee, three calls of the other.
    const events = [[0, 1, 1000], [0, 2, 2000], [0, 4, 3000], [1, 4, 12000], [1, 2, 62000]];
    for (const at of [63000, 74000, 85000]) events.push([0, 3, at], [1, 3, at + 10000]);
    events.push([1, 1, 96000]);
    nopscope("html", record("run", events, "1 8 main\n2 10 init\n3 18 init\n4 20 helper\n"), "-o", join(directory, "names.html"));
});

const openDiff = () => open(join(directory, "diff.html"));
const openNames = (fragment) => open(`${join(directory, "names.html")}${fragment}`);
const hash = () => new URL(page.url()).hash;

// By name: [red, green, blue] and the width.
const shown = async () => Object.fromEntries((await frames()).map(({ name, colour, width }) => [name, [...colour, width]]));

test("red is slower, blue is faster, grey is the same; frames are as wide as they are now", async () => {
    await openDiff();
    const of = await shown();
    const [red, , blue] = of.slower;
    assert.ok(red > blue + 60, `slower: ${of.slower}`);
    assert.ok(of.faster[2] > of.faster[0] + 30, `faster: ${of.faster}`);
    assert.ok(Math.max(...of.same.slice(0, 3)) - Math.min(...of.same.slice(0, 3)) <= 2, `same: ${of.same}`);
    assert.ok(of.fresh[0] > of.fresh[2] + 20, `fresh: ${of.fresh}`);
    assert.ok(of.slower[1] < of.fresh[1], "what has changed most has the strongest colour");
    assert.equal(of.gone, undefined);
    assert.ok(Math.abs(of.slower[3] / of.faster[3] - 1.5) < 0.02);
});

test("a frame says what it was before", async () => {
    await openDiff();
    for (const [name, says] of [["slower", /^slower — 30.*before 10.*\(\+200/], ["faster", /before 30.*\(-33/], ["fresh", /\(new\)/]]) {
        await frame(name).hover();
        assert.match(await text("#details"), says);
    }
});

test("inverted, too, and what has gone is in the facts", async () => {
    await openDiff();
    await page.click("#order");
    await settled();
    const of = await shown();
    assert.ok(of.slower[0] > of.slower[2] + 60 && of.faster[2] > of.faster[0] + 30);
    await page.click("#tab-recording");
    assert.match(await text("#recording"), /gonegone \(5\.00 us\)/);
});

test("a row of the table leads to its own function, and so does the link to it", async () => {
    for (const [count, itsCallees] of [["1", ["helper"]], ["3", []]]) {
        await openNames("#view=functions&sort=calls");
        const row = (await rowsOf("#functions")).findIndex((cells) => cells[0] === count && cells.at(-1) === "init");
        await page.locator("#functions tbody tr").nth(row).click();
        assert.equal(await text("#calls dl.facts div:first-child dd"), count);
        assert.deepEqual(await page.locator("#calls section:last-child td.name").allTextContents(), itsCallees);
        await openNames(hash());
        assert.equal(await text("#calls dl.facts div:first-child dd"), count, "by the link");
    }
});

test("a click on a frame zooms into that one", async () => {
    await openNames("");
    const drawn = await frames();
    const root = drawn.find(({ name }) => name === "all").width;
    const widths = drawn.filter(({ name }) => name === "init").map(({ width }) => width);
    const [narrow, wide] = [...widths].sort((a, b) => a - b);
    assert.ok(wide > 1.5 * narrow && narrow > 100, `${narrow} and ${wide}`);
    await page.locator("#flame g.frame[name='init']").nth(widths.indexOf(narrow)).click();
    await until("a link to it", () => hash() !== "");
    const link = hash();
    for (const how of ["clicked", "by the link"]) {
        await until("the zoom", async () => (await frames()).some(({ name, width }) => name === "init" && width > root * 0.99));
        const labels = (await frames()).filter(({ width }) => width > 1).map(({ name }) => name);
        assert.ok(!labels.includes("helper"), `${how}: ${labels}`);
        await openNames(link);
    }
});
