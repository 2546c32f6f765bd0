/** Text that is selected in an article can be highlighted by a button beside it. */
const CONTEXT = 200; // characters before and after the passage, by which it is found again

function selected() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.toString().trim()) return null;
  const range = selection.getRangeAt(0);
  const prose = (range.commonAncestorContainer.closest ? range.commonAncestorContainer : range.commonAncestorContainer.parentElement)?.closest(".posting .prose");
  return prose && { range, prose };
}

function around({ range, prose }) {
  const before = range.cloneRange();
  before.setStart(prose, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const behind = range.cloneRange();
  behind.setStart(range.endContainer, range.endOffset);
  behind.setEnd(prose, prose.childNodes.length);
  return { prefix: before.toString().slice(-CONTEXT), suffix: behind.toString().slice(0, CONTEXT) };
}

function place(button, { range }) {
  const { right, bottom } = range.getBoundingClientRect();
  button.hidden = false;
  button.style.insetInlineStart = `${Math.max(8, Math.min(right, innerWidth - button.offsetWidth - 8))}px`;
  button.style.insetBlockStart = `${Math.max(8, Math.min(bottom + 8, innerHeight - button.offsetHeight - 8))}px`;
}

function show() {
  const found = selected();
  for (const button of document.querySelectorAll("[data-highlight-selection]")) {
    if (found && button.closest(".reader")?.contains(found.prose)) place(button, found);
    else button.hidden = true;
  }
}

export function offerHighlights() {
  show(); // the selection may be made by now
  document.addEventListener("selectionchange", show);
  // Pressing the button must not end the selection.
  document.addEventListener("pointerdown", (event) => event.target.closest("[data-highlight-selection]") && event.preventDefault());
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-highlight-selection]");
    const found = button && selected();
    if (!found) return;
    const form = button.closest(".reader").querySelector("[data-quote]").form;
    form.elements.quote.value = found.range.toString();
    Object.entries(around(found)).forEach(([name, text]) => (form.elements[name].value = text));
    button.hidden = true;
    form.requestSubmit();
  });
}
