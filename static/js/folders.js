const KEY = "closed-folders";

function closed() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  } catch {
    return new Set(); // storage is switched off, or holds something else
  }
}

/** Folders of the sidebar that somebody closed stay closed on the next page. */
export function rememberFolders() {
  const known = closed();
  for (const folder of document.querySelectorAll("details[data-folder]")) {
    folder.open = !known.has(folder.dataset.folder) || folder.querySelector("[aria-current]") !== null;
    folder.addEventListener("toggle", () => {
      const now = closed();
      if (folder.open) now.delete(folder.dataset.folder);
      else now.add(folder.dataset.folder);
      try {
        localStorage.setItem(KEY, JSON.stringify([...now]));
      } catch {
        // Without storage folders are open on every page.
      }
    });
  }
}
