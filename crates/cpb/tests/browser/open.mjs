// How long pages take to open in headless Chromium: a line of JSON, one entry a fresh browser.
//
//   node open.mjs page.html TIMES
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

const [file, times] = process.argv.slice(2);
const found = [];
for (let time = 0; time < Number(times); time += 1) {
  const browser = await launch();
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(pathToFileURL(resolve(file)).href);
  // The frame after the one that follows the load is there when all of it has been painted.
  found.push(
    await page.evaluate(
      () =>
        new Promise((done) => {
          requestAnimationFrame(() =>
            requestAnimationFrame(() => {
              const [navigation] = performance.getEntriesByType("navigation");
              done({ loaded: navigation.loadEventEnd, painted: performance.now() });
            }),
          );
        }),
    ),
  );
  await browser.close();
}
console.log(JSON.stringify(found));
