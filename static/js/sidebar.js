const FOLDERS = "closed-folders";
const PLACE = "sidebar-place";

function stored(storage, key) {
  try {
    return JSON.parse(storage().getItem(key));
  } catch {
    return null; // storage is switched off, or holds something else
  }
}

function keep(storage, key, value) {
  try {
    storage().setItem(key, JSON.stringify(value));
  } catch {
    // Without storage folders are open on every page, and each page shows the sidebar from its top.
  }
}

// Even to name a storage fails where it is switched off.
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

/** Folders that somebody closed stay closed on the next page, and the list stays where it was scrolled to. */
export function rememberSidebar() {
  const sidebar = document.querySelector(".sidebar");
  if (!sidebar) return;
  rememberFolders(sidebar);
  rememberPlace(sidebar);
}
