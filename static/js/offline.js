// The page's part of offline reading; the service worker stores and sends.
import { writeTime } from "./times.js";

const MARK = /\/posting\/(\d+)\/mark\/$/;
const RETRY_AFTER = 1_000; // ms, doubled with each failure
const RETRY_WITHIN = 60_000; // ms

const line = document.querySelector("[data-offline]");
const isKeptPage = line?.hasAttribute("data-kept"); // served by the worker
let canKeep = false; // a worker is active
let isBack = false; // the portal responds again, while this page is a stored one
let waiting = []; // unsent marks
let delay = RETRY_AFTER;
let retry = 0; // a timer's number

/** The worker's response, or null without a worker. */
export async function ask(message) {
  if (!canKeep) return null;
  const { active } = await navigator.serviceWorker.ready;
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    active.postMessage(message, [port2]);
  });
}

// Visitors get no worker; an existing one is notified of the sign-out.
async function findWorker() {
  const { worker, person } = line.dataset;
  const known = await navigator.serviceWorker.getRegistration(document.documentElement.dataset.root);
  if (!person && !known) return false;
  if (!(await navigator.serviceWorker.register(worker, { scope: document.documentElement.dataset.root }))) return false;
  await navigator.serviceWorker.ready; // may take a while, or never happen
  canKeep = true;
  return true;
}

// --- marks -----------------------------------------------------------------------------------------------------------
function changeOf(form, button) {
  const [, posting] = MARK.exec(form.getAttribute("action") ?? "") ?? [];
  if (!posting || !["read", "starred"].includes(button?.name)) return null;
  return { posting: Number(posting), field: button.name, value: button.value === "yes" };
}

async function queue(change) {
  show(change.posting, change.field, change.value);
  showStatus(await ask({ do: "change", change }));
  if (navigator.onLine) sendLater();
}

// Update a pressed button as the portal would have returned it.
function show(posting, field, value) {
  for (const form of document.querySelectorAll(`form[action$="/posting/${posting}/mark/"]`)) {
    const button = form.querySelector(`button[name="${field}"]`);
    if (!button) continue;
    button.value = value ? "no" : "yes";
    if (field === "starred") button.setAttribute("aria-pressed", String(value));
    else showRead(form, button, value);
  }
}

function showRead(form, button, isRead) {
  form.toggleAttribute("data-unread", !isRead);
  const picture = button.querySelector("use");
  picture?.setAttribute("href", picture.getAttribute("href").replace(/#.*/, isRead ? "#unread" : "#read"));
  const words = isRead ? line.dataset.textUnread : line.dataset.textRead;
  button.title = `${words} (m)`;
  const hidden = button.querySelector(".unseen");
  if (hidden) hidden.textContent = words;
}

function watchMarks() {
  // Before htmx, which listens on the forms.
  document.addEventListener(
    "submit",
    (event) => {
      const change = changeOf(event.target, event.submitter);
      if (!change || !canKeep || (navigator.onLine && !isKeptPage)) return;
      event.preventDefault();
      event.stopPropagation();
      queue(change);
    },
    true,
  );
  // The network seemed available but was not.
  document.addEventListener("htmx:sendError", ({ detail }) => {
    const change = changeOf(detail.elt, detail.requestConfig?.triggeringEvent?.submitter);
    if (change && canKeep) queue(change);
  });
}

// --- the line at the bottom ------------------------------------------------------------------------------------------
function showStatus(reply) {
  waiting = reply?.waiting ?? waiting;
  const { textOffline, textWaiting, textBack, textLoad } = line.dataset;
  const words = [];
  if (!navigator.onLine || (isKeptPage && !isBack)) words.push(textOffline);
  if (waiting.length) words.push(`${textWaiting} ${waiting.length}`);
  if (isKeptPage && isBack) words.push(textBack);
  line.textContent = words.join(" ");
  line.hidden = !words.length;
  if (isKeptPage) line.append(" ", Object.assign(document.createElement("a"), { href: "", textContent: textLoad }));
  markQueued();
}

function markQueued() {
  for (const button of document.querySelectorAll("[data-queued]")) {
    button.removeAttribute("data-queued");
    button.removeAttribute("aria-description");
  }
  for (const { posting, field } of waiting) {
    const button = document.querySelector(`form[action$="/posting/${posting}/mark/"] button[name="${field}"]`);
    button?.setAttribute("data-queued", "");
    button?.setAttribute("aria-description", line.dataset.textQueued);
  }
}

async function cameBack() {
  clearTimeout(retry);
  const reply = await ask({ do: "send" });
  isBack = !reply?.error;
  showStatus(reply);
  if (isBack) delay = RETRY_AFTER;
  else sendLater();
}

// The browser may be online before the network works, or although the portal is away.
function sendLater() {
  clearTimeout(retry);
  retry = setTimeout(() => navigator.onLine && cameBack(), delay);
  delay = Math.min(2 * delay, RETRY_WITHIN);
}

async function went() {
  isBack = false;
  showStatus(await ask({ do: "states", ids: [] }));
}

// --- pages that the worker shows -------------------------------------------------------------------------------------
async function completeKeptPage() {
  for (const time of document.querySelectorAll("main time[datetime]")) {
    time.textContent = writeTime(new Date(time.dateTime)); // the relative time was that of storing
  }
  for (const link of document.querySelectorAll("main [data-menu]")) link.remove(); // only the portal can render the menu
  const forms = [...document.querySelectorAll("main form")];
  const ids = forms.map((form) => Number(MARK.exec(form.getAttribute("action") ?? "")?.[1])).filter(Boolean);
  const reply = await ask({ do: "states", ids });
  for (const { id, unread, starred } of reply?.states ?? []) {
    show(id, "read", !unread);
    show(id, "starred", starred);
  }
  showStatus(reply);
  const opened = document.querySelector("[data-whole]") && reply?.states?.find(({ id, unread }) => id === ids[0] && unread);
  if (opened) await queue({ posting: opened.id, field: "read", value: true });
}

async function start() {
  if (!(await findWorker())) return void tellImpossible();
  navigator.serviceWorker.addEventListener("message", ({ data }) => showStatus(data));
  addEventListener("online", cameBack);
  addEventListener("offline", went);
  watchMarks();
  if (isKeptPage) await completeKeptPage();
  else {
    const visit = async () => showStatus(await ask({ do: "visit", person: line.dataset.person }));
    navigator.serviceWorker.addEventListener("controllerchange", visit); // the worker was updated
    await visit();
  }
  if (document.querySelector("[data-offline-device]")) (await import("./offline_device.js")).showDevice(ask);
}

function tellImpossible() {
  document.querySelector("[data-offline-impossible]")?.removeAttribute("hidden");
}

/** Store postings and show unsent marks; does nothing in browsers without support. */
export function startOffline() {
  if (!line || !navigator.serviceWorker) return void tellImpossible();
  const begin = () => start().catch(tellImpossible); // storage or workers are disabled
  if (isKeptPage || document.readyState === "complete") begin();
  else addEventListener("load", begin); // the page's own resources come first
}
