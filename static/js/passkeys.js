// Says on the page what would else be said on the console alone: that a passkey could not be made or used.
const problem = document.getElementById("passkey-problem");

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  problem.hidden = false;
  problem.focus();
});
