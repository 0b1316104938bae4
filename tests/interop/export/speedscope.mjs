// SPDX-License-Identifier: Apache-2.0
// Opens files in speedscope as its users do, in headless Chromium.
//
//     speedscope.mjs INDEX FILE...        INDEX: speedscope's index.html; with CHROMIUM
//
// Writes FILE.exported beside each FILE: what speedscope's "Export" saves, all profiles that it read from the file.
import { pathToFileURL } from "node:url";
import { launch, newPage } from "./browser.mjs";

const [index, ...files] = process.argv.slice(2);
const browser = await launch();
const wrong = [];
for (const file of files) {
    const page = await newPage(browser, wrong, /^(file|data|blob):/);
    page.setDefaultTimeout(100_000);
    page.on("dialog", (dialog) => { throw new Error(`${file}: speedscope says: ${dialog.message()}`); });
    await page.goto(`${pathToFileURL(index)}#view=sandwich`);
    await page.setInputFiles("input[type=file]", file);
    await page.locator("tr:has(td):visible").first().waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Export").click()]);
    await download.saveAs(`${file}.exported`);
    await page.close();
}
await browser.close();
if (wrong.length) throw new Error(wrong.join("\n"));
