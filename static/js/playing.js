// Recordings go on where somebody stopped, on whatever device: the portal keeps the place.
const EVERY = 15_000; // ms between two reports while it plays

/** Tell the portal where each player of the page is. */
export function keepPlaces() {
  document.querySelectorAll("[data-place]").forEach(keep);
}

function keep(player) {
  const { place, number } = player.dataset;
  let told = Number(player.dataset.seconds);
  let toldAt = 0;
  let isBegun = false; // since the page was opened

  function tell() {
    if (!isBegun) return;
    const seconds = player.ended ? 0 : Math.floor(player.currentTime);
    if (seconds === told) return;
    [told, toldAt] = [seconds, Date.now()];
    const form = new FormData();
    form.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    form.set("number", number);
    form.set("seconds", seconds);
    // It outlives the page, if this is left now; a report that fails is made up for by the next.
    fetch(place, { method: "POST", body: form, keepalive: true }).catch(() => (told = null));
  }

  // Somebody may have gone on elsewhere while this page lay in the background.
  async function ask() {
    if (!player.paused) return;
    const answer = await fetch(place).catch(() => null);
    const kept = answer?.ok && (await answer.json());
    if (!kept || String(kept.number) !== number || kept.seconds === told || !player.paused) return;
    player.currentTime = told = kept.seconds;
  }

  player.addEventListener("play", () => (isBegun = true));
  player.addEventListener("pause", tell);
  player.addEventListener("ended", tell);
  player.addEventListener("timeupdate", () => Date.now() - toldAt >= EVERY && tell());
  addEventListener("pagehide", tell);
  document.addEventListener("visibilitychange", () => (document.hidden ? tell() : ask()));
}
