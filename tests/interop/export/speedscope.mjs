// SPDX-License-Identifier: Apache-2.0
// Opens files in speedscope as its users do, in headless Chromium.
//
//     speedscope.mjs INDEX FILE...        INDEX: speedscope's index.html; with CHROMIUM
//
// Writes beside each FILE:
//     FILE.exported   what speedscope's "Export" saves: all profiles that it read from the file
//     FILE.rows       the table of the profile that it shows first: [[total, self, name]], as text
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch, newPage } from "./browser.mjs";

const [index, ...files] = process.argv.slice(2);
const browser = await launch();
const wrong = [];
for (const file of files) {
    const page = await newPage(browser, wrong, /^(file|data|blob):/);
    page.setDefaultTimeout(100_000);
    page.on("dialog", (dialog) => { throw new Error(`${file}: speedscope says: ${dialog.message()}`); });
    await page.setViewportSize({ width: 1400, height: 12000 }); // rows outside the window do not exist
    await page.goto(`${pathToFileURL(index)}#view=sandwich`);
    await page.setInputFiles("input[type=file]", file);
    const rows = page.locator("tr:has(td):visible");
    await rows.first().waitFor();
    writeFileSync(`${file}.rows`, JSON.stringify(await rows.evaluateAll(
        (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)))));
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Export").click()]);
    await download.saveAs(`${file}.exported`);
    await page.close();
}
await browser.close();
if (wrong.length) throw new Error(wrong.join("\n"));
