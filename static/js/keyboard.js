const PREFIX_TIME = 1200; // ms for the second key of a pair
const REPEATABLE = "jknp"; // repeat while held down

let selected = null; // id of the row, since htmx may replace the element
let prefixAt = -Infinity;

const find = (selector, within = document) => within?.querySelector(selector);
const rows = () => [...document.querySelectorAll("[data-posting]:not([data-whole])")];
const whole = () => find("[data-whole]");
const posting = () => whole() ?? (selected && document.getElementById(selected));

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

function step(by, isMeant = () => true) {
  if (whole()) {
    find(by > 0 ? "[data-next]" : "[data-previous]", whole())?.click();
    return;
  }
  const all = rows();
  const at = all.findIndex((row) => row.id === selected);
  let next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
  while (all[next] && !isMeant(all[next])) next += by;
  if (all[next]) goTo(all[next]);
  else if (by > 0) find("[data-more]")?.click();
}

const isUnread = (row) => find("[data-unread]", row) !== null;

function openOriginal() {
  const link = find("[data-original]", posting());
  if (link) window.open(link.href, "_blank", "noopener,noreferrer");
}

// The previous list, or else that of the source.
function goUp() {
  if (!whole()) location.assign("/river/");
  else if (document.referrer.startsWith(`${location.origin}/`) && !/\/posting\//.test(document.referrer)) history.back();
  else find("[data-up]", whole())?.click();
}

function tag() {
  const row = posting();
  const field = find(".tag-form [name=tag]", row);
  field?.closest("details")?.setAttribute("open", "");
  if (field) field.focus();
  else find("[data-menu]", row)?.click();
}

// From the field for tags back to its row, where the other keys work.
function leave(field) {
  const row = field.closest("[data-posting]:not([data-whole])");
  if (!row) {
    field.blur();
    return;
  }
  field.closest("details")?.removeAttribute("open");
  goTo(row);
}

// A page's own search field before the one in the header, which small screens hide.
function search() {
  const fields = [...document.querySelectorAll("main [data-search], [data-search]")];
  const own = fields.find((field) => field.closest("main")) ?? fields.find((field) => field.checkVisibility());
  if (own) own.focus();
  else location.assign("/search/");
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  n: () => step(1, isUnread),
  p: () => step(-1, isUnread),
  o: () => find("[data-open]", posting())?.click(),
  u: goUp,
  v: openOriginal,
  s: () => find("[data-star]", posting())?.click(),
  m: () => find("[data-read]", posting())?.click(),
  t: tag,
  A: () => find("[data-mark-all]")?.requestSubmit(),
  r: () => location.reload(),
  "/": search,
  "?": () => document.getElementById("keys").showModal(),
};

const PLACES = {
  a: "/river/",
  s: "/river/starred/",
  o: "/own/",
  h: "/history/",
  n: "/notes/",
  t: "/tags/",
  r: "/stories/",
  f: "/folders/",
  c: "/catalogue/",
};
const AFTER_G = Object.fromEntries(
  Object.entries(PLACES).map(([key, address]) => [key, () => location.assign(address)]),
);

function isTyping(target) {
  return target.closest(
    "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], audio, video, dialog[open]",
  );
}

// The key's character, or the Latin letter at its position on other keyboards.
function keyOf(event) {
  const latin = /^Key([A-Z])$/.exec(event.code)?.[1];
  if (!latin || /^[\x20-\x7e]$/.test(event.key)) return event.key;
  return event.shiftKey ? latin : latin.toLowerCase();
}

function press(event) {
  if (event.key === "Escape" && !event.isComposing && event.target.matches(".tag-form [name=tag]")) leave(event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target)) return;
  const key = keyOf(event);
  if (event.repeat && !REPEATABLE.includes(key)) return;
  const isSecond = event.timeStamp - prefixAt < PREFIX_TIME;
  prefixAt = -Infinity;
  if (key === "g" && !isSecond) {
    prefixAt = event.timeStamp;
    return;
  }
  const table = isSecond ? AFTER_G : KEYS;
  const action = Object.hasOwn(table, key) && table[key];
  if (!action) return;
  event.preventDefault();
  action();
}

export function watchKeys() {
  // A form sent without htmx redirects to its row.
  const row = document.getElementById(location.hash.slice(1));
  if (row?.matches("[data-posting]")) select(row);
  document.addEventListener("keydown", press);
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-posting]:not([data-whole])");
    if (row && row.id !== selected) select(row);
  });
}
