// Marks postings as read when scrolled past, if enabled; several per request.
const EVERY = 3_000; // ms between requests
const MOST = 200; // postings per request, the portal's limit

/** Watch the list if enabled. */
export function markWhileScrolling() {
  const list = document.querySelector("[data-mark-on-scroll]");
  if (!list) return;
  const waiting = new Set();
  const onScreen = new WeakSet();
  const top = document.querySelector(".list-bar")?.getBoundingClientRect().height ?? 0; // px, of what covers the list

  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      if (isIntersecting) onScreen.add(target);
      // Without a height, the list is hidden behind an article.
      else if (onScreen.has(target) && boundingClientRect.height && boundingClientRect.bottom <= top) {
        observer.unobserve(target);
        if (target.querySelector("[data-unread]")) waiting.add(target.id.replace("posting-", ""));
      }
    }
  }, { rootMargin: `-${top}px 0px 0px` });
  const watched = new WeakSet();
  const watch = () => {
    for (const row of list.querySelectorAll("[data-posting]")) {
      if (!watched.has(row)) observer.observe(row);
      watched.add(row);
    }
  };
  watch();
  list.addEventListener("htmx:load", watch); // older postings were appended
  // Manual marks are respected.
  list.addEventListener("click", ({ target }) => {
    if (target.closest("[data-read]")) observer.unobserve(target.closest("[data-posting]"));
  });

  async function report() {
    const ids = [...waiting].slice(0, MOST);
    if (!ids.length) return;
    ids.forEach((id) => waiting.delete(id));
    const form = new FormData();
    form.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    form.set("next", location.pathname + location.search);
    ids.forEach((id) => form.append("posting", id));
    try {
      // Also sent when leaving the page.
      const answer = await fetch(list.dataset.markOnScroll, { method: "POST", body: form, keepalive: true });
      if (!answer.ok) throw new Error(`${answer.status}`);
      htmx.swap(document.body, await answer.text(), { swapStyle: "none" });
    } catch {
      ids.forEach((id) => waiting.add(id)); // with the next request
    }
  }
  setInterval(report, EVERY);
  addEventListener("pagehide", report);
  document.addEventListener("visibilitychange", () => document.hidden && report());
}
