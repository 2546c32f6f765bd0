// Swipe a posting to the right to mark it read or unread, to the left to star it.
const FAR = 84; // px from which it acts
const EDGE = 24; // px beside the screen's edges, which browsers use for navigation
const SLOPE = 1.5; // ratio of horizontal to vertical movement

/** Enable swiping of rows, an alternative to their buttons. */
export function watchSwipes() {
  let row = null;
  let from = null;
  let by = 0;
  let endedAt = -Infinity;

  function end(acts) {
    const drawn = row;
    row?.classList.remove("is-drawn", "will-act");
    row?.style.removeProperty("--drawn");
    row = from = null;
    if (!drawn || !by) return;
    endedAt = performance.now();
    if (acts && Math.abs(by) >= FAR) drawn.querySelector(by > 0 ? "[data-read]" : "[data-star]")?.click();
  }

  document.addEventListener("pointerdown", (event) => {
    const near = event.clientX < EDGE || event.clientX > innerWidth - EDGE;
    if (event.pointerType !== "touch" || !event.isPrimary || near) return;
    const touched = event.target.closest(".rows [data-posting]");
    if (!touched?.querySelector(".tools") || event.target.closest(".menu-place")) return;
    [row, from, by] = [touched, { x: event.clientX, y: event.clientY }, 0];
  });
  document.addEventListener("pointermove", (event) => {
    if (!row || !event.isPrimary) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    if (!by && Math.abs(x) < 12) return;
    if (!by && Math.abs(x) < SLOPE * Math.abs(y)) {
      row = null;
      return;
    }
    by = x;
    row.classList.add("is-drawn");
    row.classList.toggle("will-act", Math.abs(x) >= FAR);
    row.style.setProperty("--drawn", `${Math.max(-1.5 * FAR, Math.min(1.5 * FAR, x))}px`);
  });
  // A swipe is not a click, too.
  const notAfterDrawing = (event) => {
    if (!event.isTrusted || performance.now() - endedAt > 300) return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("click", notAfterDrawing, { capture: true });
  document.addEventListener("pointerup", () => end(true));
  document.addEventListener("pointercancel", () => end(false));
  // The keyboard of a phone would cover the menu.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (!detail.target.matches(".menu-place") || !matchMedia("(hover: none)").matches) return;
    detail.serverResponse = detail.serverResponse.replace(" autofocus", "");
  });
  document.documentElement.classList.add("can-swipe");
}
