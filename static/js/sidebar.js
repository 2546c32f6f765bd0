const FOLDERS = "closed-folders";
const PLACE = "sidebar-place";

function stored(storage, key) {
  try {
    return JSON.parse(storage().getItem(key));
  } catch {
    return null; // storage is disabled, or has another value
  }
}

function keep(storage, key, value) {
  try {
    storage().setItem(key, JSON.stringify(value));
  } catch {
    // Without storage all folders are open, and the sidebar is at its top on every page.
  }
}

// Even accessing a disabled storage throws.
const local = () => localStorage;
const session = () => sessionStorage;

const closed = () => new Set(stored(local, FOLDERS) ?? []);

function rememberFolders(sidebar) {
  const known = closed();
  for (const folder of sidebar.querySelectorAll("details[data-folder]")) {
    folder.open = !known.has(folder.dataset.folder) || folder.querySelector("[aria-current]") !== null;
    folder.addEventListener("toggle", () => {
      const now = closed();
      if (folder.open) now.delete(folder.dataset.folder);
      else now.add(folder.dataset.folder);
      keep(local, FOLDERS, [...now]);
    });
  }
}

/** The head of the sidebar, which stays, covers a row or its tools wholly or not at all: the rest is hard to press. */
function hideWholly(sidebar, covered) {
  const rows = [...sidebar.querySelectorAll(".sidebar-feeds-head, a")].map((row) => row.getBoundingClientRect());
  const cut = rows.filter(({ top, bottom }) => top < covered && bottom > covered);
  if (!cut.length) return;
  const further = Math.max(...cut.map(({ bottom }) => bottom)) - covered;
  const rest = sidebar.scrollHeight - sidebar.clientHeight - sidebar.scrollTop;
  sidebar.scrollTop += further < rest ? further : Math.min(...cut.map(({ top }) => top)) - covered;
}

function rememberPlace(sidebar) {
  sidebar.scrollTop = stored(session, PLACE) ?? 0;
  const current = sidebar.querySelector("[aria-current]:not(.sidebar-top *)")?.getBoundingClientRect();
  const begin = sidebar.querySelector(".sidebar-top").getBoundingClientRect().bottom;
  const end = sidebar.getBoundingClientRect().bottom;
  if (current?.height && (current.top < begin || current.bottom > end)) {
    sidebar.scrollTop += current.top - begin - (end - begin) / 3;
    hideWholly(sidebar, begin);
  }
  addEventListener("pagehide", () => keep(session, PLACE, sidebar.scrollTop));
}

const FEEDS = "sidebar-feeds";

/** The server renders changed feeds without knowing the page that they are beside. */
function rememberPage(sidebar) {
  let current = null;
  let isNamed = false;
  sidebar.addEventListener("htmx:beforeSwap", ({ target }) => {
    if (target.id !== FEEDS) return;
    current = target.querySelector("[aria-current]")?.getAttribute("href");
    isNamed = target.querySelector(".sidebar-new[open]") !== null;
  });
  sidebar.addEventListener("htmx:load", ({ target }) => {
    if (target.id !== FEEDS) return;
    if (current) target.querySelector(`a[href="${current}"]`)?.setAttribute("aria-current", "page");
    rememberFolders(target);
    if (isNamed) target.querySelector(".sidebar-new summary").focus();
  });
}

/** Keep closed folders, the scroll position and the current page across pages and changes. */
export function rememberSidebar() {
  const sidebar = document.querySelector(".sidebar");
  if (!sidebar) return;
  rememberFolders(sidebar);
  rememberPlace(sidebar);
  rememberPage(sidebar);
  sidebar.addEventListener("toggle", ({ target }) => {
    if (target.matches(".sidebar-new[open]")) target.querySelector("[name=name]").focus();
  }, true);
}
