// What the HTML page can do beyond being read: copy commands, filter cases, sort tables. Without it
// all is shown. No less-than sign and no ampersand, so that the page is well-formed as XML too.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const say = (text) => { byId("said").textContent = text; };

  // Pages opened from a file may have no navigator.clipboard, or one that refuses.
  const copyBySelection = (text) => {
    const field = document.createElement("textarea");
    field.value = text;
    field.setAttribute("readonly", "");
    field.className = "unseen";
    document.body.append(field);
    field.select();
    let done = false;
    try { done = document.execCommand("copy"); } catch { done = false; }
    field.remove();
    return done;
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyBySelection(text);
    }
  };
  for (const button of document.querySelectorAll("button.copy")) {
    const source = byId(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await copy(source.textContent);
      button.focus();
      if (!done) getSelection().selectAllChildren(source);
      say("");
      say(done ? "Copied." : "Not copied: the command is selected, copy it with the keyboard.");
      button.textContent = done ? "Copied" : "Selected";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  const filterCases = (form) => {
    const rows = Array.from(byId("case-table").tBodies[0].rows, (row) => ({
      row, id: row.cells[0].textContent.toLowerCase(), verdict: row.dataset.verdict }));
    const holds = (entry, word) =>
      word.startsWith("!") ? word === "!" || !entry.id.includes(word.slice(1)) : entry.id.includes(word);
    const apply = () => {
      const words = byId("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean);
      const verdict = byId("filter-verdict").value;
      let shown = 0;
      for (const entry of rows) {
        const right = verdict === "" || entry.verdict === verdict;
        entry.row.hidden = !(right ? words.every((word) => holds(entry, word)) : false);
        if (!entry.row.hidden) shown += 1;
      }
      const all = rows.length + (rows.length === 1 ? " case" : " cases");
      byId("filter-count").textContent = shown === rows.length ? all : shown + " of " + all;
    };
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();  // a browser may have kept what was typed
  };
  if (byId("filter")) filterCases(byId("filter"));

  // The value a cell sorts by: its data, its number (nan above inf), or its text.
  const valueOf = (cell) => {
    const data = cell.querySelector("data");
    const text = (data ? data.value : cell.textContent).trim();
    if (!cell.classList.contains("number")) return text;
    if (text === "") return -1;
    if (text === "nan") return Number.MAX_VALUE;
    if (text === "inf") return 1e300;
    return parseFloat(text);
  };
  const sortBy = (table, column, heading) => {
    const down = heading.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = Array.from(table.tBodies[0].rows, (row) => ({ row, key: valueOf(row.cells[column]) }));
    const order = (a, b) => a.key === b.key ? 0 : (a.key > b.key) === down ? -1 : 1;
    table.tBodies[0].append(...keyed.sort(order).map((entry) => entry.row));
  };
  for (const table of document.querySelectorAll("table.sortable"))
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      button.addEventListener("click", () => sortBy(table, column, heading));
      heading.replaceChildren(button);
    });
})();
