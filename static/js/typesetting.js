const YEAR = 365 * 86_400; // s

/** Apply a link's typesetting to the reader view without a request, and store it in the cookie. */
export function setType() {
  const text = document.querySelector("[data-typesetting]");
  text?.addEventListener("click", (event) => {
    const link = event.target.closest("[data-set]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { set: name, step } = link.dataset;
    text.dataset[name] = step;
    for (const other of text.querySelectorAll(`[data-set="${name}"]`)) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    const secure = location.protocol === "https:" ? "; secure" : "";
    const { size, leading } = text.dataset;
    document.cookie = `typesetting=${size}.${leading}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
  });
}
