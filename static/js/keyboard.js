import { expand, isOpen, leave as leaveArticle, open, scroller } from "./pane.js";
import { announce, beside, find, goTo, isUnread, select, selectedRow, show } from "./rows.js";

const ROOT = document.documentElement.dataset.root; // the path of the front page, with a slash at its end
const PREFIX_TIME = 1200; // ms for the second key of a pair
const REPEATABLE = "jknp"; // repeat while held down
const PAGE = 0.85; // of the window's height

let prefixAt = -Infinity;

const whole = () => find("[data-whole]");
const posting = () => whole() ?? selectedRow();

// To a row beside; while an article is open, to its article.
function step(by, isMeant) {
  if (whole() && !isOpen()) {
    find(by > 0 ? "[data-next]" : "[data-previous]", whole())?.click();
    return;
  }
  const row = beside(by, isMeant);
  if (row && isOpen()) {
    row.scrollIntoView({ block: "nearest" });
    open(find("[data-open]", row));
  } else if (row) goTo(row);
  else if (by > 0) find("[data-more]")?.click();
}

// Space: down a page, and at the end of an article to the next unread one.
function page() {
  const place = scroller();
  const isAtEnd = place.scrollTop + place.clientHeight >= place.scrollHeight - 2;
  if (whole() && !isAtEnd) place.scrollBy({ top: PAGE * place.clientHeight });
  else if (whole()) step(1, isUnread);
  else openNext(place);
}

function openNext(place) {
  const row = find(".list-bar") && beside(1, isUnread);
  if (row) open(find("[data-open]", row));
  else place.scrollBy({ top: PAGE * place.clientHeight });
}

// The feed or folder before or after the current place in the sidebar.
function toNeighbour(by, kind) {
  const links = [...document.querySelectorAll(`.sidebar a[href^="${ROOT}river/${kind}/"]`)];
  const current = find(".sidebar a[aria-current]");
  const side = by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const beyond = links.filter((link) => !current || current.compareDocumentPosition(link) & side);
  beyond.at(by > 0 ? 0 : -1)?.click();
}

async function copyLink() {
  const link = find("[data-original]", posting()) ?? find("[data-open]", posting());
  if (!link) return;
  try {
    await navigator.clipboard.writeText(link.href);
    announce(find("[data-announcer]").dataset.textCopied);
  } catch {
    prompt("", link.href); // the browser refuses the clipboard, or has none without TLS
  }
}

// To the first service of the user; the form of the star has the token that the portal wants.
async function send() {
  const link = find("a[data-send]", whole());
  if (link && link === find("[data-send]", whole())) {
    link.click();
    return;
  }
  const form = find("[data-star]", posting())?.closest("form");
  if (!form) return;
  const address = form.action.replace(/mark\/$/, "send/");
  const response = await fetch(address, { method: "POST", body: new FormData(form), headers: { Accept: "text/plain" } });
  show(response.ok || response.status === 409 ? await response.text() : response.statusText);
}

function openOriginal() {
  const link = find("[data-original]", posting());
  if (link) window.open(link.href, "_blank", "noopener,noreferrer");
}

// The list beside or below, or the previous one, or else that of the source.
function goUp() {
  if (leaveArticle()) return;
  if (!whole()) location.assign(`${ROOT}river/`);
  else if (document.referrer.startsWith(`${location.origin}/`) && !/\/posting\//.test(document.referrer)) history.back();
  else find("[data-up]", whole())?.click();
}

function tag() {
  const button = find("[data-to=tags]", whole());
  if (button) button.click();
  else find("[data-menu]", selectedRow())?.click();
}

function readerView() {
  if (whole()) find("[data-reader]", whole())?.click();
  else find("[data-open]", selectedRow())?.click();
}

// From the field for tags back to its row, where the other keys work.
function leave(field) {
  const row = field.closest("[data-posting]:not([data-whole])");
  if (!row) {
    field.blur();
    return;
  }
  field.closest("details")?.remove(); // the next use loads it again
  goTo(row);
}

// A page's own search field before the one in the header, which small screens hide.
function search() {
  const fields = [...document.querySelectorAll("main [data-search], [data-search]")];
  const own = fields.find((field) => field.closest("main")) ?? fields.find((field) => field.checkVisibility({ visibilityProperty: true }));
  if (own) own.focus();
  else location.assign(`${ROOT}search/`);
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  n: () => step(1, isUnread),
  p: () => step(-1, isUnread),
  o: () => find("[data-open]", selectedRow())?.click(),
  x: () => selectedRow() && !whole() && expand(selectedRow()),
  " ": page,
  u: goUp,
  v: openOriginal,
  s: () => find("[data-star]", posting())?.click(),
  m: () => find("[data-read]", posting())?.click(),
  t: tag,
  f: readerView,
  c: copyLink,
  b: send,
  J: () => toNeighbour(1, "source"),
  K: () => toNeighbour(-1, "source"),
  N: () => toNeighbour(1, "folder"),
  P: () => toNeighbour(-1, "folder"),
  A: () => find("[data-mark-all]")?.requestSubmit(),
  r: () => location.reload(),
  "/": search,
  "?": () => document.getElementById("keys").showModal(),
};

const PLACES = {
  a: "river/",
  s: "river/starred/",
  o: "own/",
  h: "history/",
  n: "notes/",
  t: "tags/",
  r: "stories/",
  f: "folders/",
  c: "catalogue/",
};
const AFTER_G = Object.fromEntries(
  Object.entries(PLACES).map(([key, address]) => [key, () => location.assign(ROOT + address)]),
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

// Space presses what has the focus, and scrolls pages without articles.
const isSpaceTaken = (target) => target.closest("button, summary, input, [role=button]") || !find("[data-posting]");

function press(event) {
  if (event.key === "Escape" && !event.isComposing && event.target.matches(".tag-form [name=tag]")) leave(event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target)) return;
  const key = keyOf(event);
  if (key === " " && (event.shiftKey || isSpaceTaken(event.target))) return;
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
    const row = event.target.closest(".row[data-posting]");
    if (row && row !== selectedRow()) select(row);
  });
}
