/** What covers a page closes when another place is pressed, and by Escape: menus, and the answer to a refresh. */
export function closeByPressing() {
  const close = (target) => {
    for (const menu of document.querySelectorAll("details:is(.menu, .bar-menu:not(.bar-filter))[open]")) {
      if (menu.contains(target)) continue;
      if (!target && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      for (const each of [menu, ...menu.querySelectorAll("[open]")]) each.open = false;
    }
    const answer = document.getElementById("refresh-answer"); // stays while checks are under way
    if (answer && !target?.closest?.(".refresh") && !answer.querySelector("[hx-get]")) answer.replaceChildren();
  };
  document.addEventListener("click", ({ target }) => close(target));
  document.addEventListener("keydown", ({ key }) => key === "Escape" && close(null));
}
