// Playback resumes at the stored position on any device.
const EVERY = 15_000; // ms between reports during playback

/** Report the positions of players to the portal: of the page's, and of those that htmx inserts. */
export function keepPlaces() {
  const keepAll = (part) => part.querySelectorAll(":is(audio, video)[data-place]").forEach(keep);
  keepAll(document);
  document.addEventListener("htmx:load", (event) => keepAll(event.detail.elt));
}

/** Report the positions of a player; the function returned continues where its listener stopped on any device. */
export function keep(player) {
  if (player.dataset.isKept) return;
  player.dataset.isKept = "true";
  const { place, number } = player.dataset;
  let sent = Number(player.dataset.seconds);
  let sentAt = 0;
  let isBegun = false; // since the page was loaded

  function send() {
    if (!isBegun) return;
    const seconds = player.ended ? 0 : Math.floor(player.currentTime);
    if (seconds === sent) return;
    [sent, sentAt] = [seconds, Date.now()];
    const form = new FormData();
    form.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    form.set("number", number);
    form.set("seconds", seconds);
    // Also sent when leaving the page; a failed report is superseded by the next.
    fetch(place, { method: "POST", body: form, keepalive: true }).catch(() => (sent = null));
  }

  // Playback may have continued on another device while this page was in the background.
  async function ask() {
    if (!player.paused) return;
    const answer = await fetch(place).catch(() => null);
    const kept = answer?.ok && (await answer.json());
    if (!kept || String(kept.number) !== number || kept.seconds === sent || !player.paused) return;
    player.currentTime = sent = kept.seconds;
  }

  player.addEventListener("play", () => (isBegun = true));
  player.addEventListener("pause", send);
  player.addEventListener("ended", send);
  player.addEventListener("timeupdate", () => Date.now() - sentAt >= EVERY && send());
  addEventListener("pagehide", send);
  document.addEventListener("visibilitychange", () => (document.hidden ? send() : ask()));
  return ask;
}
