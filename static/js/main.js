// All scripts are enhancements: everything works without them.
import { closeByPressing } from "./closing.js";
import { watchKeys } from "./keyboard.js";
import { startOffline } from "./offline.js";
import { isPlain, watchArticles } from "./pane.js";
import { watchPictures } from "./pictures.js";
import { offerSharing } from "./sharing.js";
import { rememberSidebar } from "./sidebar.js";
import { nameZone } from "./times.js";

// Where a session has ended, the answer is the page to sign in at, which is no part of this one.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (new URL(detail.xhr.responseURL || location).pathname !== document.body.dataset.signIn) return;
  detail.shouldSwap = false;
  location.reload();
});
// The second press of a double click would undo the first.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest("[data-star], [data-read]")) event.preventDefault();
});
// Listens before its script has come: the press would follow the link.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-player], [data-recording]");
  if (!link || !isPlain(event)) return;
  event.preventDefault();
  const { play } = await import("./players.js").catch(() => ({ play: () => location.assign(link.href) }));
  if (link.isConnected) play(link); // not for the second press of a double click
});
// Under the pointer, a name that is cut off is shown whole.
document.addEventListener("pointerover", ({ target }) => {
  const isCut = target.scrollWidth > target.clientWidth && getComputedStyle(target).textOverflow === "ellipsis";
  if (isCut) target.title ||= target.textContent.trim();
});
nameZone();
watchArticles();
watchKeys();
rememberSidebar();
// Only few pages need these.
const has = (selector) => document.querySelector(selector) !== null;
if (has("[data-arranging]")) import("./arranging.js").then(({ letArrange }) => letArrange());
if (has("[data-choosing]")) import("./choosing.js").then(({ chooseTogether }) => chooseTogether());
if (has("[data-push]")) import("./push.js").then(({ offerPush }) => offerPush());
if (has(".sidebar, [data-posting]")) {
  import("./scrolling.js").then(({ markWhileScrolling }) => markWhileScrolling());
  import("./swipes.js").then(({ watchSwipes }) => watchSwipes());
  import("./playing.js").then(({ keepPlaces }) => keepPlaces());
}
// The first selection comes long before a passage is chosen.
const offerHighlights = () => import("./highlighting.js").then(({ offerHighlights }) => offerHighlights());
document.addEventListener("selectionchange", offerHighlights, { once: true });
offerSharing();
closeByPressing();
watchPictures();
startOffline();
