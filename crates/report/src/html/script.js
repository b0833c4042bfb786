// What the page does beyond being read: sorting, filtering, CSV, folding, the theme.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Cells are compared as numbers where both are some; empty ones come last.
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
  };

  const sortBy = (table, head, place) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    all("thead th", table).forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [row.cells[place].textContent, row]);
    rows.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      return down ? compare(b, a) : compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
  };

  const filter = (table, text, output) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const content = [...row.cells]
        .map((cell) => cell.textContent)
        .join("\t")
        .toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
      shown += !row.hidden;
    }
    const total = table.tBodies[0].rows.length;
    output.value = shown === total ? `${total} rows` : `${shown} of ${total} rows`;
  };

  // What is shown, in the order in which it is shown.
  const csv = (table) => {
    // A spreadsheet computes what begins like a formula; a number is none.
    const computes = (text) => /^[=+\-@\t\r＝＋－＠]./.test(text) && Number.isNaN(Number(text));
    const inert = (text) => (computes(text) ? `'${text}` : text);
    const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const field = (text) => quoted(inert(text));
    const rows = [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter((row) => !row.hidden)];
    return rows
      .map((row) => [...row.cells].map((cell) => field(cell.textContent)).join(",") + "\r\n")
      .join("");
  };

  const download = (name, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  for (const tools of all(".tools")) {
    const table = document.getElementById(tools.dataset.for);
    const [input, output, button] = ["input", "output", "button"].map((name) =>
      tools.querySelector(name),
    );
    input.addEventListener("input", () => filter(table, input.value, output));
    button.addEventListener("click", () => download(`cpb-${table.id}.csv`, csv(table)));
    all("thead th", table).forEach((head, place) => {
      const sort = document.createElement("button");
      sort.type = "button";
      sort.textContent = head.textContent;
      sort.addEventListener("click", () => sortBy(table, head, place));
      head.replaceChildren(sort);
      head.setAttribute("aria-sort", "none");
    });
    tools.hidden = false;
  }

  // What does not scroll is no stop for the tabulator key.
  const stops = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls =
        target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
      if (scrolls) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  all(".scroll").forEach((region) => stops.observe(region));

  const folds = all("details");
  const unfold = document.getElementById("unfold");
  if (unfold) {
    unfold.hidden = false;
    unfold.addEventListener("click", () => {
      const open = folds.some((fold) => !fold.open);
      folds.forEach((fold) => (fold.open = open));
      unfold.textContent = open ? "Fold all" : "Unfold all";
    });
  }

  // A link to what is folded away unfolds it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target?.closest("details:not([open])");
    if (fold) {
      fold.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Paper has no folds.
  let closed = [];
  // A tagged PDF has an object of 160 bytes for each cell of a table and each span: thousands of figures
  // would make it ten times as large. Tables of figures have no tags there; the page is for readers that
  // need them.
  const figures = all(".operation .scroll, .scroll.tall");
  addEventListener("beforeprint", () => {
    closed = folds.filter((fold) => !fold.open);
    closed.forEach((fold) => (fold.open = true));
    figures.forEach((table) => table.setAttribute("aria-hidden", "true"));
  });
  addEventListener("afterprint", () => {
    closed.forEach((fold) => (fold.open = false));
    figures.forEach((table) => table.removeAttribute("aria-hidden"));
  });

  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const label = () => (theme.textContent = isDark() ? "Light" : "Dark");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  label();
})();
