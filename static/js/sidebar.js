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

function rememberPlace(sidebar) {
  sidebar.scrollTop = stored(session, PLACE) ?? 0;
  const current = sidebar.querySelector("[aria-current]");
  const within = sidebar.getBoundingClientRect();
  const { top, bottom } = current?.getBoundingClientRect() ?? within;
  if (top < within.top || bottom > within.bottom) sidebar.scrollTop += top - within.top - within.height / 3;
  addEventListener("pagehide", () => keep(session, PLACE, sidebar.scrollTop));
}

/** Keep closed folders and the scroll position across pages. */
export function rememberSidebar() {
  const sidebar = document.querySelector(".sidebar");
  if (!sidebar) return;
  rememberFolders(sidebar);
  rememberPlace(sidebar);
}
