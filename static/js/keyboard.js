const PREFIX_TIME = 1200; // ms in which the second key of a pair must follow

let selected = null; // id of the row, since htmx may replace the element
let prefixAt = -Infinity;

const find = (selector, within = document) => within?.querySelector(selector);
const rows = () => [...document.querySelectorAll("[data-posting]:not([data-whole])")];
const posting = () => find("[data-whole]") ?? (selected && document.getElementById(selected));

function select(row) {
  find(".is-selected")?.classList.remove("is-selected");
  selected = row.id;
  row.classList.add("is-selected");
}

function goTo(row) {
  select(row);
  find("[data-open]", row)?.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const whole = find("[data-whole]");
  if (whole) {
    find(by > 0 ? "[data-next]" : "[data-previous]", whole)?.click();
    return;
  }
  const all = rows();
  const at = all.findIndex((row) => row.id === selected);
  const next = at < 0 ? (by > 0 ? 0 : -1) : at + by;
  if (all[next]) goTo(all[next]);
  else if (by > 0) find("[data-more]")?.click();
}

function openOriginal() {
  const link = find("[data-original]", posting());
  if (link) window.open(link.href, "_blank", "noopener,noreferrer");
}

// A page's own field comes before the one above every page, which small screens do not show.
function search() {
  const fields = [...document.querySelectorAll("main [data-search], [data-search]")];
  const own = fields.find((field) => field.closest("main")) ?? fields.find((field) => field.checkVisibility());
  if (own) own.focus();
  else location.assign("/search/");
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  o: () => find("[data-open]", posting())?.click(),
  v: openOriginal,
  s: () => find("[data-star]", posting())?.click(),
  m: () => find("[data-read]", posting())?.click(),
  A: () => find("[data-mark-all]")?.requestSubmit(),
  r: () => location.reload(),
  "/": search,
  "?": () => document.getElementById("keys").showModal(),
};

const AFTER_G = {
  a: () => location.assign("/river/"),
  s: () => location.assign("/river/starred/"),
  c: () => location.assign("/catalogue/"),
};

function isTyping(target) {
  return target.closest("input:not([type=checkbox]), textarea, select, [contenteditable], audio, video, dialog[open]");
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "g") {
    prefixAt = event.timeStamp;
    return;
  }
  const table = event.timeStamp - prefixAt < PREFIX_TIME ? AFTER_G : KEYS;
  prefixAt = -Infinity;
  const action = Object.hasOwn(table, event.key) && table[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

export function watchKeys() {
  // A form sent without htmx leads back to its row.
  const row = document.getElementById(location.hash.slice(1));
  if (row?.matches("[data-posting]")) select(row);
  document.addEventListener("keydown", press);
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-posting]:not([data-whole])");
    if (row && row.id !== selected) select(row);
  });
}
