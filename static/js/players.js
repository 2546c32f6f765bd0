import { keep } from "./playing.js";

/** Play a video or a recording in its place, instead of following its link. */
export function play(link) {
  if (link.dataset.player) showFrame(link);
  else listen(link);
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
