// The rows of a list, and which of them is selected.
let selected = null; // id, since htmx may replace the element
const SHOWN_FOR = 10_000; // ms, of a message

export const find = (selector, within = document) => within?.querySelector(selector);
export const rows = () => [...document.querySelectorAll(".row[data-posting]")];
export const isUnread = (row) => find("[data-unread]", row) !== null;
export const selectedRow = () => selected && document.getElementById(selected);

export function select(row) {
  find(".row.is-selected")?.classList.remove("is-selected");
  selected = row.id;
  row.classList.add("is-selected");
}

export function goTo(row) {
  select(row);
  find("[data-open]", row)?.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

/** The next row in a direction that is meant; null after the last. */
export function beside(by, isMeant = () => true) {
  const all = rows();
  const at = all.findIndex((row) => row.id === selected);
  let next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
  while (all[next] && !isMeant(all[next])) next += by;
  return all[next] ?? null;
}

/** Show a short message for a while, which screen readers say. */
export function show(text) {
  const home = find("main.is-open > .pane") ?? find("main .page");
  const place = find(".messages", home) ?? Object.assign(document.createElement("div"), { className: "messages" });
  const message = Object.assign(document.createElement("div"), { className: "message info", textContent: text });
  place.setAttribute("role", "status");
  if (!place.isConnected) home.prepend(place);
  place.replaceChildren(message);
  setTimeout(() => message.remove(), SHOWN_FOR);
}

/** Say something to screen readers. */
export function announce(text) {
  const announcer = find("[data-announcer]");
  if (announcer) announcer.textContent = text;
}
