/** Share an address with other apps, or copy it, as far as the browser can. */
export function offerSharing() {
  if (navigator.share) {
    for (const button of document.querySelectorAll("[data-share]")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        const { share: url, title } = button.dataset;
        navigator.share({ url, title }).catch(() => {}); // cancelled
      });
    }
  }
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.copied;
    });
  }
}
