// Articles open beside their list, or in its place; either way the list stays as it is, and history leads back to it.
import { announce, find, select, selectedRow } from "./rows.js";

const born = location.pathname;
let home = null; // the list's address, title and position, while an article is open
// The same of the list that was left by the browser's button, or of this page: the button may lead back to an article.
let left = { address: location.href, title: document.title, top: 0 };
let blank = null; // what the pane says without an article
let shown = null; // address of the open article
let loading = null; // address of the article that is to be shown next
let turns = 0;

const main = () => document.getElementById("main");
const pane = () => document.getElementById("pane");
const list = () => find(".page");
const depth = () => history.state?.articles ?? 0; // entries of articles since the list's own
const hasPanes = () => document.body.classList.contains("has-panes") && matchMedia("(min-width: 68.75rem)").matches;

export const isOpen = () => shown !== null;
/** What scrolls an article: its pane, or the page. */
export const scroller = () => (isOpen() && hasPanes() ? pane() : document.scrollingElement);

async function load(target, path, headers = {}) {
  turns += 1;
  const turn = turns;
  const answer = await fetch(path, { headers: { "HX-Request": "true", "HX-Target": target.id, ...headers } });
  if (!answer.ok || answer.redirected) throw new Error(`status ${answer.status}`);
  const text = await answer.text();
  // An article that was left before it came is read all the same, which its row shows.
  const isLatest = turn === turns;
  htmx.swap(isLatest ? target : document.body, text, { swapStyle: isLatest ? "innerHTML" : "none" });
  return isLatest;
}

async function show(path, row, entry) {
  blank ??= [...pane().childNodes];
  pane().setAttribute("aria-busy", "true");
  if (row) select(row);
  loading = path;
  try {
    if (!(await load(pane(), path, row ? { "X-Row": "1" } : {}))) return;
  } catch {
    if (loading === path) location.assign(path);
    return;
  }
  loading = null;
  if (entry) history.pushState(entry, "", path); // before anything moves: the browser notes where the list was
  shown = path;
  main().classList.add("is-open");
  pane().removeAttribute("aria-busy");
  for (const link of document.querySelectorAll("[data-open][aria-current]")) link.removeAttribute("aria-current");
  find("[data-open]", row)?.setAttribute("aria-current", "true");
  const heading = find("[data-heading]", pane());
  document.title = find("[data-page-title]", pane()).dataset.pageTitle;
  heading.focus({ preventScroll: true });
  scroller().scrollTop = 0;
  announce(heading.textContent);
}

/** Open the article of a row, or the one at an address. */
export async function open(link) {
  const row = link.closest(".row[data-posting]");
  const path = link.pathname;
  if (path === (loading ?? shown)) return;
  home ??= { address: location.href, title: document.title, top: document.scrollingElement.scrollTop, row: row?.id };
  const next = depth() + 1;
  if (next === 1) history.replaceState({ top: list().scrollTop }, "", home.address); // an entry of htmx is ours now, too
  await show(path, row, { articles: next });
}

function close() {
  const row = selectedRow();
  turns += 1; // an article that is still loading is not shown any more
  shown = loading = null;
  pane().removeAttribute("aria-busy");
  main().classList.remove("is-open");
  document.body.classList.remove("is-alone");
  pane().replaceChildren(...blank);
  document.title = home.title;
  if (!hasPanes()) document.scrollingElement.scrollTop = home.top;
  find("[data-open]", row)?.removeAttribute("aria-current");
  find("[data-open]", row)?.focus({ preventScroll: true });
  if (row && row.id !== home.row) row.scrollIntoView({ block: "nearest" });
  left = home;
  home = null;
}

/** Back to the list; false without one. */
export function leave() {
  if (!isOpen()) return false;
  if (depth()) history.go(-depth());
  else {
    // A link within the article led here.
    history.pushState(null, "", home.address);
    close();
  }
  return true;
}

function followHistory({ state }) {
  const { pathname } = location;
  if (home && location.href.split("#")[0] === home.address.split("#")[0]) close();
  else if (state?.articles && pathname !== shown) {
    const link = [...document.querySelectorAll(".row [data-open]")].find((each) => each.pathname === pathname);
    home ??= left;
    show(pathname, link?.closest(".row"));
  } else if (!state?.articles && !home && pathname !== born) location.reload(); // the list of an article that was reloaded
}

/** Read an article in its row, and close it again. */
export async function expand(row) {
  const place = find(".menu-place", row);
  if (!place) return;
  const isExpanded = find("[data-expanded]", place) !== null;
  row.classList.toggle("is-expanded", !isExpanded);
  if (isExpanded) place.replaceChildren();
  else await load(place, find("[data-open]", row).pathname).catch(() => open(find("[data-open]", row)));
}

/** Whether a press follows a link in this tab. */
export const isPlain = (event) =>
  !(event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

function openPart(name) {
  const rail = find("[data-rail]");
  const part = document.getElementById(name);
  if (!rail || !part) return;
  rail.open = true;
  if (part.matches("details")) part.open = true;
  part.scrollIntoView({ block: "nearest" });
  find("input:not([type=hidden]), textarea, a, button:not([hidden])", part)?.focus({ preventScroll: true });
}

function click(event) {
  const link = event.target.closest("a");
  if (!link || !isPlain(event)) return;
  const within = link.closest("#pane");
  if (link.matches("[data-open], #pane :is([data-next], [data-previous])")) open(link);
  else if (link.matches("[data-expand]")) expand(link.closest(".row"));
  else if (link.matches("[data-to]")) openPart(link.dataset.to);
  else if (within && link.matches("[href^='#']")) document.getElementById(link.hash.slice(1))?.scrollIntoView();
  else if (within && link.matches("[data-back]")) leave();
  else if (within && link.matches("[data-reader]")) {
    if (document.body.classList.toggle("is-alone")) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  } else return;
  event.preventDefault();
}

const YEAR = 365 * 86_400; // s

function rememberRail(event) {
  if (!event.target.matches?.("[data-rail]")) return;
  document.cookie = `rail=${event.target.open ? "open" : "closed"}; path=/; max-age=${YEAR}; samesite=lax`;
}

/** Whether the buttons of an article are shown in its row and in the pane, which are answered together. */
function tellPlaces({ detail }) {
  const [, id] = /^\/posting\/(\d+)\/mark\/$/.exec(detail.path) ?? [];
  if (id && ["", "pane-"].every((place) => document.getElementById(`tools-${place}${id}`))) {
    detail.parameters.set("also", "yes");
  }
}

/** Browsers restore the place in a window, but not in one of its parts. */
function rememberPlace() {
  if (history.state?.top) list().scrollTop = history.state.top;
  list().addEventListener("scrollend", () => {
    if (!isOpen()) history.replaceState({ ...history.state, top: list().scrollTop }, "");
  });
}

export function watchArticles() {
  document.addEventListener("toggle", rememberRail, { capture: true });
  document.addEventListener("htmx:configRequest", tellPlaces);
  if (!pane() || find("[data-kept]")) return; // pages without a network open others
  document.addEventListener("click", click);
  addEventListener("popstate", followHistory);
  if (hasPanes()) rememberPlace();
}
