// Opens a report or a comparison in headless Chromium and tries all that it does. One line a check that went well;
// exit status 1 and what is wrong for the first that did not.
//
//   node check.mjs report.html [CHECK...]
import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const address = pathToFileURL(resolve(process.argv[2])).href;
const WIDE = 1280;
const WIDEST = 1920;
const NARROW = 360;
// The room on paper, in pixels: A4 upright with margins of 12 mm, A3 across with margins of 10 mm.
const A4 = 703;
const A3 = 1512;
// Rules that hold, although axe calls what breaks them moderate only.
const STRICT = ["landmark-unique", "region", "heading-order"];

const browser = await launch();
const downloads = await mkdtemp(join(tmpdir(), "cpb-report-"));

// A page with everything that it says or asks for.
async function open({ width = WIDE, scheme = "light", scripts = true, media = "screen" } = {}) {
  const page = await browser.newPage();
  const noise = [];
  page.on("console", (message) => noise.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const own = [address, "data:", "blob:"].some((begin) => request.url().startsWith(begin));
    if (!own) noise.push(`request: ${request.url()}`);
  });
  await page.setViewport({ width, height: 800 });
  await page.setJavaScriptEnabled(scripts);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.emulateMediaType(media);
  await page.goto(address);
  page.noise = noise;
  return page;
}

async function done(name, page) {
  assert.deepEqual(page.noise, [], `${name}: the console and the network are silent`);
  assert.equal(await page.evaluate("window.pwned"), undefined);
  await page.close();
  console.log(`ok ${name}`);
}

const unfold = (page) =>
  page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));

async function fits(page, width) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `the page is ${wide} wide in a window of ${width}`);
}

// What is far from the window is not laid out until it comes nearer: here, all is.
const lay = (page) =>
  page.addStyleTag({ content: "* { content-visibility: visible !important; }" });

async function accessible(page) {
  await lay(page);
  await page.addScriptTag({ path: axe });
  const { violations, passes } = await page.evaluate(() => window.axe.run());
  assert.ok(passes.length > 10, "axe has looked at the page");
  const bad = violations
    .filter(({ id, impact }) => ["serious", "critical"].includes(impact) || STRICT.includes(id))
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html }) => html.slice(0, 200))
          .join(" | ")}`,
    );
  assert.deepEqual(bad, []);
}

// The text of a cell ends before the next cell begins, and names beside lines do not touch.
async function apart(page) {
  const found = await page.evaluate(() => {
    const over = [];
    for (const cell of document.querySelectorAll("td, th")) {
      if (!cell.checkVisibility() || cell.closest("caption")) continue;
      const room = cell.getBoundingClientRect();
      const range = document.createRange();
      range.selectNodeContents(cell);
      for (const text of range.getClientRects()) {
        if (text.right > room.right + 1 || text.left < room.left - 1)
          over.push(cell.textContent.slice(0, 60));
      }
    }
    for (const plot of document.querySelectorAll("svg.lines")) {
      const names = [...plot.querySelectorAll("text.name")];
      // Those that are not drawn have no height.
      const rows = names.map((name) => name.getBoundingClientRect()).filter((row) => row.height > 0);
      rows.sort((a, b) => a.top - b.top);
      rows.forEach((row, place) => {
        const next = rows[place + 1];
        if (next && next.top < row.top + 0.8 * row.height) over.push(`a name at ${row.top}`);
      });
    }
    return over;
  });
  assert.deepEqual(found, [], "texts that overrun what is beside them");
}

// What a picture of the whole page shows is all there before anything scrolls: a page has one height.
async function whole(page) {
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  const before = await height();
  await lay(page);
  assert.equal(await height(), before, "nothing is laid out later");
}

async function looks() {
  for (const scheme of ["light", "dark"]) {
    for (const width of [WIDEST, WIDE, NARROW]) {
      const page = await open({ width, scheme });
      await fits(page, width);
      await unfold(page);
      await fits(page, width);
      await apart(page);
      await whole(page);
      // The policy of the page lets nothing in, axe neither: it is tried on its own.
      await page.setBypassCSP(true);
      await page.reload();
      await unfold(page);
      await accessible(page);
      await done(`${scheme}, ${width} wide`, page);
    }
  }
}

const column = (page, table, place) =>
  page.$$eval(
    `#${table} tbody tr:not([hidden])`,
    (rows, place) => rows.map((row) => row.cells[place].textContent),
    place,
  );

// Empty cells stand last; the others ascend, or descend.
function ordered(cells, down) {
  const some = cells.filter((cell) => cell !== "");
  assert.ok(
    cells.slice(some.length).every((cell) => cell === ""),
    "empty cells come last",
  );
  const numbers = some.map(Number);
  if (numbers.some(Number.isNaN)) return false;
  const sorted = [...numbers].sort((a, b) => (down ? b - a : a - b));
  assert.deepEqual(numbers, sorted);
  return true;
}

async function sorts(page, table) {
  const heads = await page.$$(`#${table} thead button`);
  assert.ok(heads.length > 5, "each column has a button");
  let numbers = 0;
  for (const [place, head] of heads.entries()) {
    await head.evaluate((button) => button.click());
    const state = () => head.evaluate((button) => button.closest("th").getAttribute("aria-sort"));
    assert.equal(await state(), "ascending");
    numbers += ordered(await column(page, table, place), false);
    await head.evaluate((button) => button.click());
    assert.equal(await state(), "descending");
    ordered(await column(page, table, place), true);
  }
  assert.ok(numbers > 0, "some columns are numbers");
  const sorted = await page.$$eval(`#${table} th[aria-sort$=cending]`, (all) => all.length);
  assert.equal(sorted, 1, "one column at a time");
}

async function filters(page, table) {
  const all = await column(page, table, 0);
  const input = await page.$(`.tools[data-for=${table}] input`);
  const said = () => page.$eval(`.tools[data-for=${table}] output`, (output) => output.value);
  assert.equal(await said(), `${all.length} rows`);
  const word = all[0];
  await input.type(word.toUpperCase());
  const left = await page.$$eval(`#${table} tbody tr:not([hidden])`, (rows) =>
    rows.map((row) => row.textContent),
  );
  assert.ok(left.length > 0 && left.every((row) => row.includes(word)), word);
  await input.type(" no-such-thing");
  assert.deepEqual(await column(page, table, 0), []);
  assert.equal(await said(), `0 of ${all.length} rows`);
  await input.evaluate((input) => input.select());
  await input.type(word);
  return left.length;
}

// As RFC 4180 has it.
function parse(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g,
  )) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.slice(0, -1);
}

async function downloaded(page, table) {
  const client = await page.createCDPSession();
  await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });
  await page.$eval(`.tools[data-for=${table}] button`, (button) => button.click());
  const name = `cpb-${table}.csv`;
  for (let tries = 0; !(await readdir(downloads)).includes(name); tries += 1) {
    assert.ok(tries < 100, "nothing was downloaded");
    await new Promise((wait) => setTimeout(wait, 100));
  }
  const text = await readFile(join(downloads, name), "utf8");
  await rm(join(downloads, name));
  return parse(text);
}

async function tables() {
  const page = await open();
  for (const table of await page.$$eval("table.cells", (all) => all.map(({ id }) => id))) {
    await sorts(page, table);
    console.log(`ok ${table} is sorted by each column`);
    const left = await filters(page, table);
    console.log(`ok ${table} is filtered`);
    const shown = await page.$$eval(
      `#${table} thead tr, #${table} tbody tr:not([hidden])`,
      (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)),
    );
    assert.equal(shown.length, left + 1);
    assert.deepEqual(await downloaded(page, table), shown);
    console.log(`ok ${table} is downloaded as it is shown`);
  }
  await done("tables", page);
}

async function keyboard() {
  const page = await open();
  await page.bringToFront();
  const stops = [];
  // Twice round: on a busy machine a step may find nobody with the focus, and the next goes on.
  let rounds = 0;
  for (let count = 0; count < 800 && rounds < 2; count += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const { tagName, id, textContent, ariaLabel } = document.activeElement;
      const seen = getComputedStyle(document.activeElement).outlineStyle !== "none";
      return { tagName, id, seen, name: (ariaLabel ?? textContent).trim().slice(0, 40) };
    });
    if (stop.tagName === "BODY") {
      rounds += 1;
      continue;
    }
    assert.ok(stop.seen, `who has the focus can be seen: ${JSON.stringify(stop)}`);
    stops.push(stop);
  }
  for (const wanted of ["A", "BUTTON", "SUMMARY", "INPUT"]) {
    assert.ok(
      stops.some(({ tagName }) => tagName === wanted),
      `${wanted} can be reached`,
    );
  }
  const button = await page.$("table.cells thead button");
  await button.focus();
  await page.keyboard.press("Enter");
  const state = await button.evaluate((button) => button.closest("th").getAttribute("aria-sort"));
  assert.equal(state, "ascending");
  const fold = await page.$("details:not([open]) > summary");
  if (fold) {
    await fold.evaluate((summary) =>
      summary.closest("details").parentElement.closest("details")?.setAttribute("open", ""),
    );
    await fold.focus();
    await page.keyboard.press("Space");
    assert.ok(await fold.evaluate((summary) => summary.parentElement.open));
  }
  await done("keyboard", page);
}

async function links() {
  const page = await open();
  const links = await page.$$eval("table.answer a", (all) =>
    all.map((link) => link.getAttribute("href")),
  );
  for (const link of links) {
    await page.$eval(`table.answer a[href="${link}"]`, (anchor) => anchor.click());
    await page.waitForFunction(
      (id) => document.getElementById(id)?.checkVisibility(),
      {},
      link.slice(1),
    );
  }
  await done(`${links.length} answers lead to their figures`, page);
}

async function themes() {
  const page = await open({ scheme: "light" });
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const lines = () =>
    page.$$eval(".plot [stroke]", (all) => all.map((line) => getComputedStyle(line).stroke));
  const fills = () =>
    page.$$eval(".plot [fill], .symbols [class]", (all) =>
      all.map((shape) => getComputedStyle(shape).fill),
    );
  const [light, ...drawn] = [await back(), ...(await lines()), ...(await fills())];
  await page.click("#theme");
  const [dark, ...redrawn] = [await back(), ...(await lines()), ...(await fills())];
  assert.notEqual(light, dark);
  for (const [place, colour] of drawn.entries())
    assert.notEqual(colour, redrawn[place], "plots follow the theme");
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await page.click("#theme");
  assert.equal(await back(), light);
  await done("themes", page);
}

async function withoutScripts() {
  const page = await open({ scripts: false });
  await lay(page);
  // No script runs in the page; the debugger still reads it.
  const text = await page.evaluate(() => document.body.innerText);
  const parts = await page.$$eval("nav a", (all) =>
    all.map((link) => document.querySelector(`${link.getAttribute("href")} h2`).innerText),
  );
  assert.ok(parts.length > 3, "the page has sections");
  for (const part of parts) assert.ok(text.includes(part), part);
  const tools = await page.$$eval(
    "button, input:not([type=checkbox])",
    (all) => all.filter((one) => one.checkVisibility()).length,
  );
  assert.equal(tools, 0, "what needs a script is not shown");
  await done("without scripts", page);
}

// Each path has a switch that hides and shows what is drawn of it, without a script.
async function switches() {
  const page = await open({ scripts: false });
  const drawn = (operation, number) =>
    operation.$$eval(`.s${number}`, (all) =>
      all.map((one) => getComputedStyle(one).display !== "none"),
    );
  let tried = 0;
  for (const operation of await page.$$(".operation")) {
    await operation.evaluate((section) => {
      for (let at = section; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
      section.querySelectorAll("details").forEach((fold) => (fold.open = true));
    });
    const boxes = await operation.$$(".legend input");
    const first = await operation.$$eval(".legend input:checked", (all) => all.length);
    assert.ok(first <= 8, "eight paths at most are drawn at first");
    for (const box of boxes) {
      const number = await box.evaluate((input) => input.className.slice(1));
      const before = await box.evaluate((input) => input.checked);
      for (const shown of await drawn(operation, number)) assert.equal(shown, before);
      await box.evaluate((input) => input.click());
      for (const shown of await drawn(operation, number)) assert.equal(shown, !before);
      await box.evaluate((input) => input.click());
      tried += 1;
    }
  }
  await done(`${tried} switches of paths`, page);
}

async function paper() {
  const page = await open({ media: "print", scheme: "dark" });
  const folded = await page.$$eval(
    "details:not([open]) table",
    (all) => all.filter((table) => !table.checkVisibility()).length,
  );
  assert.equal(folded, 0, "paper has no folds");
  assert.equal(
    await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    "rgb(255, 255, 255)",
  );
  assert.equal(await page.$eval("nav", (nav) => nav.checkVisibility()), false);
  const nameless = await page.$$eval("table.cells thead th", (all) =>
    all.filter((head) => head.innerText.trim() === "").map((head) => head.textContent),
  );
  assert.deepEqual(nameless, [], "each column has its heading");
  const legends = await page.$$eval(".legend", (all) =>
    all.map((legend) => [
      [...legend.querySelectorAll("label")].filter((label) => label.checkVisibility()).length,
      legend.querySelectorAll(":checked").length,
    ]),
  );
  for (const [named, drawn] of legends) assert.equal(named, drawn, "what is drawn is named");
  // Nothing reaches over the edge of its sheet: the table of every cell has a larger one.
  for (const [width, section] of [
    [A4, "main > section:not(#all)"],
    [A3, "#all"],
  ]) {
    await page.setViewport({ width, height: 1000 });
    const over = await page.$$eval(
      section,
      (sections, width) =>
        sections
          .flatMap((one) => [...one.querySelectorAll("*")])
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > width + 1)
          .filter((one) => getComputedStyle(one).clipPath === "none")
          .map((one) => `${one.tagName} ${one.textContent.slice(0, 60)}`),
      width,
    );
    assert.deepEqual(over.slice(0, 5), [], `${section} on ${width} pixels of paper`);
  }
  const pdf = await page.pdf({ preferCSSPageSize: true });
  assert.ok(pdf.length > 10_000, `${pdf.length} bytes`);
  console.log(`pdf ${pdf.length}`);
  await done("print", page);
}

try {
  const checks = { looks, tables, keyboard, links, themes, switches, withoutScripts, paper };
  const wanted = process.argv.slice(3);
  for (const name of wanted.length > 0 ? wanted : Object.keys(checks)) await checks[name]();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await browser.close();
  await rm(downloads, { recursive: true });
}
