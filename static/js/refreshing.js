/** The answer to a refresh covers the list: a click elsewhere or Escape closes it, unless checks are under way. */
export function closeAnswers() {
  const close = ({ target }) => {
    const answer = document.getElementById("refresh-answer");
    if (answer && !target.closest?.(".refresh") && !answer.querySelector("[hx-get]")) answer.replaceChildren();
  };
  document.addEventListener("click", close);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && close({ target: document.body }));
}
