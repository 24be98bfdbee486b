// Runs inside the HTML page in a browser, uses it as a person would, and leaves in the root's
// data-probe what is not as it must be; "fine" when nothing is.
"use strict";
(async () => {
  const faults = [];
  let checks = 0;
  const check = (holds, words) => { checks += 1; if (!holds) faults.push(words); };
  const byId = (id) => document.getElementById(id);
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  const plots = Array.from(document.querySelectorAll("svg.plot"));
  for (const plot of plots) {
    const box = plot.getBoundingClientRect();
    check(box.width > 300 && box.height > 40, `plot ${plot.id} is ${box.width} x ${box.height}`);
    const marks = Array.from(plot.querySelectorAll("g[id*='_plot_'] use, g[id*='_plot_'] path, " +
                                                   "g[id*='_plot_'] polygon"));
    check(marks.length > 0, `plot ${plot.id} has no marks`);
    const unseen = marks.filter((mark) => {
      const size = mark.getBoundingClientRect();
      return size.width === 0 && size.height === 0;
    });
    check(unseen.length === 0, `plot ${plot.id}: ${unseen.length} marks are not drawn`);
    const colour = getComputedStyle(plot.querySelector("text").parentElement).fill;
    check(colour === getComputedStyle(document.body).color, `plot ${plot.id} has text in ${colour}`);
  }

  const rows = Array.from(byId("case-table").tBodies[0].rows);
  const shown = () => rows.filter((row) => row.getClientRects().length > 0);
  const filter = (text, verdict) => {
    byId("filter-text").value = text;
    byId("filter-verdict").value = verdict;
    byId("filter-text").dispatchEvent(new Event("input", { bubbles: true }));
  };
  check(byId("filter").getClientRects().length > 0, "the filter is not shown");
  check(shown().length === rows.length, "not every case is shown at first");
  const id = rows[rows.length - 1].cells[0].textContent;
  filter(id, "");
  check(shown().length === rows.filter((row) => row.cells[0].textContent === id).length,
        `${shown().length} cases are called ${id}`);
  const [kernel, dtypes] = id.split("/");
  filter(`${kernel.toUpperCase()} !${dtypes}`, "");
  check(shown().length === rows.filter((row) => row.cells[0].textContent.includes(kernel) &&
                                                !row.cells[0].textContent.includes(dtypes)).length,
        "words that must and must not be there");
  check(byId("filter-count").textContent === `${shown().length} of ${rows.length} cases`,
        `the count says ${byId("filter-count").textContent}`);
  filter("no such case", "");
  check(shown().length === 0, "a case is shown that holds no such words");
  const verdict = rows[0].dataset.verdict;
  filter("", verdict);
  check(shown().length === rows.filter((row) => row.dataset.verdict === verdict).length,
        `${shown().length} cases are ${verdict}`);
  filter("", "");
  check(shown().length === rows.length, "not every case comes back");

  const sort = byId("case-table").tHead.rows[0].cells[2].querySelector("button");
  const column = () => Array.from(byId("case-table").tBodies[0].rows,
                                  (row) => row.cells[2].textContent);
  const value = (text) => text === "" ? -1 : text === "inf" ? 1e300 : parseFloat(text);
  sort.click();
  check(column().every((text, i, all) => i === 0 || value(all[i - 1]) >= value(text)),
        "cases are not sorted, largest first");
  check(sort.parentElement.getAttribute("aria-sort") === "descending", "aria-sort is not said");
  sort.click();
  check(column().every((text, i, all) => i === 0 || value(all[i - 1]) <= value(text)),
        "cases are not sorted, smallest first");

  // A browser without a person's hand refuses real clipboards, so these stand for one, for one that
  // only takes what is selected, and for none.
  const taken = [];
  const put = (object, name, value) =>
    Object.defineProperty(object, name, { value, configurable: true });
  const press = async (button) => {
    button.click();
    for (let i = 0; i < 50 && button.textContent === "Copy"; ++i) await wait(20);
    const word = button.textContent;
    check(document.activeElement === button, "the focus has left the button");
    for (let i = 0; i < 200 && button.textContent !== "Copy"; ++i) await wait(20);
    return word;
  };
  for (const button of document.querySelectorAll("button.copy")) {
    const command = byId(button.dataset.copy).textContent;
    check(button.getClientRects().length > 0, `${button.ariaLabel} is not shown`);
    put(navigator, "clipboard", { writeText: async (text) => { taken.push(text); } });
    check(await press(button) === "Copied" && taken.pop() === command, `${button.ariaLabel}: clipboard`);
    check(byId("said").textContent === "Copied.", `it said ${byId("said").textContent}`);
    put(navigator, "clipboard", undefined);
    put(document, "execCommand", () => {
      const field = document.activeElement;
      taken.push(field.value.slice(field.selectionStart, field.selectionEnd));
      return true;
    });
    check(await press(button) === "Copied" && taken.pop() === command, `${button.ariaLabel}: selected`);
    put(document, "execCommand", () => false);
    check(await press(button) === "Selected" && getSelection().toString() === command,
          `${button.ariaLabel}: neither, ${getSelection()}`);
    check(byId("said").textContent.startsWith("Not copied"), "it does not say that it failed");
  }

  // Contrast as WCAG 2 computes it: 4.5 for text, 3 for what a plot draws.
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/\d+/g).map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const swatch = document.createElement("p");
  document.body.append(swatch);
  const colour = (name) => {
    swatch.className = "";
    document.body.style.setProperty("color", `var(--${name})`);
    return getComputedStyle(document.body).color;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(colour(a)), luminance(colour(b))].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  for (const ground of ["paper", "raised", "tint"]) {
    for (const text of ["ink", "quiet", "link", "good", "bad", "doubt", "sure"])
      check(contrast(text, ground) >= 4.5, `${text} on ${ground}: ${contrast(text, ground)}`);
  }
  for (const mark of ["plot-2", "plot-3", "plot-4", "plot-5", "plot-9"])
    check(contrast(mark, "raised") >= 3, `${mark}: ${contrast(mark, "raised")}`);
  check(contrast("ink", "mark") >= 4.5, "ink on mark");
  document.body.style.removeProperty("color");
  swatch.remove();

  check(document.documentElement.scrollWidth <= innerWidth,
        `the page is ${document.documentElement.scrollWidth} wide in ${innerWidth}`);
  document.documentElement.dataset.plots = plots.length;
  document.documentElement.dataset.ground = getComputedStyle(document.body).backgroundColor;
  document.documentElement.dataset.probe =
    faults.length === 0 && checks > 0 ? "fine" : faults.slice(0, 10).join("; ");
})().catch((error) => { document.documentElement.dataset.probe = `stopped: ${error.stack}`; });
