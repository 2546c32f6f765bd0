// The settings of offline reading.
import { writeTime } from "./times.js";

const size = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;

export async function showDevice(ask) {
  const place = document.querySelector("[data-offline-device]");
  const form = place.querySelector("form");
  const status = place.querySelector("[data-status]");
  const put = (name, words) => (place.querySelector(`[data-kept-${name}]`).textContent = words);

  function fill({ length, pictures, articles, bytes, fetchedAt, waiting }) {
    form.elements.amount.value = String(length);
    form.elements.pictures.checked = pictures;
    put("articles", articles);
    put("bytes", size(bytes));
    put("fetched", fetchedAt ? writeTime(new Date(fetchedAt)) : "–");
    put("waiting", waiting);
  }

  async function does(task, words) {
    status.textContent = "…";
    const reply = await ask(task);
    if (reply.error) fill(await ask({ do: "about" }));
    else fill(reply);
    status.textContent = reply.error ? status.dataset.textFailed : words;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    navigator.storage?.persist?.().catch(() => {}); // or the browser may evict it
    const [length, pictures] = [Number(form.elements.amount.value), form.elements.pictures.checked];
    does({ do: "choose", length, pictures }, status.dataset.textSaved);
  });
  place.querySelector("[data-fetch]").addEventListener("click", () => does({ do: "fetch" }, status.dataset.textFetched));
  place.querySelector("[data-forget]").addEventListener("click", () => does({ do: "forget" }, status.dataset.textDeleted));
  fill(await ask({ do: "about" }));
  place.hidden = false;
}
