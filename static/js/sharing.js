/** Share an address with other apps, or copy it, as far as the browser can. */
export function offerSharing() {
  const possible = [navigator.share && "[data-share]", navigator.clipboard && "[data-copy]"].filter(Boolean).join();
  if (!possible) return;
  const reveal = () => document.querySelectorAll(possible).forEach((button) => (button.hidden = false));
  reveal();
  document.addEventListener("htmx:load", reveal); // an article was opened
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-share], [data-copy]");
    const { share, title, copy, copied } = button?.dataset ?? {};
    if (share) navigator.share({ url: share, title }).catch(() => {}); // cancelled
    if (!copy) return;
    await navigator.clipboard.writeText(copy);
    button.textContent = copied;
  });
}
