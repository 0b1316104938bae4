// SPDX-License-Identifier: Apache-2.0
// The differential flame graph that `diff --html` writes, in headless Chromium.
//
//     node --test diff_test.mjs, with NOPSCOPE, NOPSCOPE_REPORT_BENCH and CHROMIUM
import assert from "node:assert/strict";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { directory, frame, frames, nopscope, open, page, record, settled, suite, text } from "./browser.mjs";

// One call of main with these calls inside: [function, ns].
function recording(name, calls) {
    let now = 1000;
    const inside = calls.flatMap(([fn, length]) => [[0, fn, now], [1, fn, (now += length)]]);
    return record(name, [[0, 1, 1000], ...inside, [1, 1, now + 1000]], "1 8 main\n2 10 slower\n3 18 faster\n4 20 same\n5 28 fresh\n6 30 gone\n");
}

suite("diff", () => {
    const old = recording("old", [[2, 10_000], [3, 30_000], [4, 20_000], [6, 5_000]]);
    const now = recording("now", [[2, 30_000], [3, 20_000], [4, 20_000], [5, 10_000]]);
    nopscope("diff", old, now, "--html", join(directory, "diff.html"));
});
beforeEach(() => open(join(directory, "diff.html")));

// By name: [red, green, blue] and the width.
const shown = async () => Object.fromEntries((await frames()).map(({ name, colour, width }) => [name, [...colour, width]]));

test("red is slower, blue is faster, grey is the same; frames are as wide as they are now", async () => {
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
    for (const [name, says] of [["slower", /^slower — 30.*before 10.*\(\+200/], ["faster", /before 30.*\(-33/], ["fresh", /\(new\)/]]) {
        await frame(name).hover();
        assert.match(await text("#details"), says);
    }
});

test("inverted, too, and what has gone is in the facts", async () => {
    await page.click("#order");
    await settled();
    const of = await shown();
    assert.ok(of.slower[0] > of.slower[2] + 60 && of.faster[2] > of.faster[0] + 30);
    await page.click("#tab-recording");
    assert.match(await text("#recording"), /gonegone \(5\.00 us\)/);
});
