// Drag and drop of folders and sources by mouse, pen or finger; an alternative to the buttons.
const NEAR_EDGE = 60; // px from the window's edge at which it scrolls
const SCROLLED = 12; // px a frame

const find = (selector, within = document) => within.querySelector(selector);
const listOf = (item) => item.parentElement.closest("[data-list]");

// The target of an item dropped at this height: folders stay among folders, which precede sources.
function place(item, list, y) {
  const kind = item.dataset.item.split("-")[0];
  const beside = [...list.children].filter((other) => other.dataset.item?.startsWith(`${kind}-`) && other !== item);
  const next = beside.find((other) => {
    const { top, height } = find(".arranged-row", other).getBoundingClientRect();
    return y < top + height / 2;
  });
  if (next) return next;
  if (kind === "source") return null;
  return [...list.children].find((other) => other.dataset.item?.startsWith("source-")) ?? null;
}

// Dropping on a folder's row moves the item into it.
function listAt(x, y, item) {
  const under = document.elementFromPoint(x, y);
  const over = under?.closest("[data-item]");
  if (!under?.closest("[data-arranging]") || item.contains(under)) return null;
  const inside = over && under.closest(".arranged-row") && over.dataset.item.startsWith("folder-");
  if (inside && !(item.dataset.item.startsWith("folder-") && listOf(over) === listOf(item))) return find("[data-list]", over);
  return under.closest("[data-list]");
}

function isIn(item, list) {
  return [...list.children].some((other) => other !== item && other.dataset.item === item.dataset.item);
}

// The item moves only when dropped; a line shows the target.
class Drag {
  constructor(form, item, event) {
    Object.assign(this, { form, item, x: event.clientX, y: event.clientY, from: listOf(item) });
    this.mark = document.createElement("li");
    this.mark.className = "drop-mark";
    this.mark.setAttribute("aria-hidden", "true");
    event.currentTarget.setPointerCapture(event.pointerId);
    item.classList.add("is-dragged");
    this.frame = requestAnimationFrame(() => this.scroll());
  }

  scroll() {
    if (this.y < NEAR_EDGE) scrollBy(0, -SCROLLED);
    else if (this.y > innerHeight - NEAR_EDGE) scrollBy(0, SCROLLED);
    this.frame = requestAnimationFrame(() => this.scroll());
  }

  move(event) {
    [this.x, this.y] = [event.clientX, event.clientY];
    const list = listAt(this.x, this.y, this.item);
    if (list && !isIn(this.item, list)) list.insertBefore(this.mark, place(this.item, list, this.y));
  }

  end() {
    cancelAnimationFrame(this.frame);
    this.item.classList.remove("is-dragged");
    this.mark.remove();
  }

  async drop() {
    const list = this.mark.parentElement;
    const before = this.item.nextElementSibling;
    list?.insertBefore(this.item, this.mark);
    this.end();
    const next = this.item.nextElementSibling;
    if (!list || (list === this.from && next === before)) return;
    const kind = this.item.dataset.item.split("-")[0];
    await keep(this.form, this.item, this.from, list, next?.dataset.item.startsWith(`${kind}-`) ? next : null);
    rename(this.item, list);
  }
}

// Update the buttons and the id of an item that moved into another folder.
function rename(item, list) {
  const { item: name } = item.dataset;
  item.id = `${name}-${list.dataset.list.split("-")[1]}`;
  for (const button of find(".arranged-row", item).querySelectorAll("[name=move]")) {
    button.value = `${name} ${list.dataset.list} ${button.value.split(" ")[2]}`;
  }
}

async function keep(form, item, from, into, next) {
  const status = find("[data-status]", form);
  const body = new FormData(form);
  const before = next?.dataset.item ?? `${item.dataset.item.split("-")[0]}-0`;
  body.set("move", `${item.dataset.item} ${from.dataset.list} into ${into.dataset.list} ${before}`);
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { "HX-Request": "true" } });
    if (!answer.ok) throw new Error(answer.status === 409 ? await answer.text() : form.dataset.failed);
    status.textContent = "";
  } catch (error) {
    status.textContent = error.message;
    status.className = "message error";
    setTimeout(() => location.reload(), 2500);
  }
}

export function letArrange() {
  const form = find("[data-arranging]");
  if (!form) return;
  form.classList.add("is-arranging");
  let drag = null;
  for (const handle of form.querySelectorAll("[data-handle]")) {
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || drag) return;
      event.preventDefault();
      drag = new Drag(form, handle.closest("[data-item]"), event);
    });
    handle.addEventListener("pointermove", (event) => drag?.move(event));
    handle.addEventListener("pointerup", () => {
      drag?.drop();
      drag = null;
    });
    handle.addEventListener("pointercancel", () => {
      drag?.end();
      drag = null;
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !drag) return;
    drag.end();
    drag = null;
  });
}
