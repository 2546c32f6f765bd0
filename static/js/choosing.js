// The checkbox in the table's head selects all listed sources.
export function chooseTogether() {
  const bar = document.querySelector("[data-choosing]");
  if (!bar) return;
  const boxes = [...document.querySelectorAll(`input[type="checkbox"][form="${bar.id}"]`)];
  const table = boxes[0]?.closest("table");
  const place = table?.querySelector("thead th");
  if (!place) return;
  const every = document.createElement("input");
  every.type = "checkbox";
  every.ariaLabel = bar.dataset.choosing;
  place.replaceChildren(every);
  every.addEventListener("change", () => boxes.forEach((box) => (box.checked = every.checked)));
  table.addEventListener("change", () => {
    const chosen = boxes.filter((box) => box.checked).length;
    every.checked = chosen === boxes.length;
    every.indeterminate = 0 < chosen && chosen < boxes.length;
  });
}
