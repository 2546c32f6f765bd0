import { keep } from "./playing.js";

const isPlain = (event) => !(event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey);

/** Play videos and recordings in their place, instead of following their links. */
export function playInPlace() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-player], [data-recording]");
    if (!link || !isPlain(event)) return;
    event.preventDefault();
    if (link.dataset.player) showFrame(link);
    else listen(link);
  });
}

// Nothing is requested from the video's site before; the frame is a page of our own, which alone may load it.
function showFrame(link) {
  const frame = document.createElement("iframe");
  frame.src = link.dataset.player;
  frame.title = link.querySelector(".player-title").textContent;
  frame.allow = "autoplay; encrypted-media; fullscreen; picture-in-picture";
  frame.allowFullscreen = true;
  link.replaceWith(frame);
  frame.focus();
}

async function listen(link) {
  const player = document.createElement("audio");
  const { recording, ...kept } = link.dataset;
  Object.assign(player.dataset, kept);
  player.controls = true;
  player.preload = "none";
  player.src = recording;
  player.setAttribute("aria-label", link.getAttribute("aria-label"));
  link.replaceWith(player);
  player.focus();
  if (kept.place) await keep(player)();
  player.play().catch(() => {}); // the controls tell
}
