// Shows errors of passkeys on the page instead of only in the console.
const problem = document.getElementById("passkey-problem");

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  problem.hidden = false;
  problem.focus();
});
