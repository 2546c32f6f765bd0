// Menus close when another place is pressed, and by Escape.
export function closeMenus() {
  const close = (stays) => {
    for (const menu of document.querySelectorAll("details:is(.menu, .bar-menu:not(.bar-filter))[open]")) {
      if (!menu.contains(stays)) menu.open = false;
    }
  };
  document.addEventListener("click", ({ target }) => close(target));
  document.addEventListener("keydown", ({ key }) => key === "Escape" && close(null));
}
