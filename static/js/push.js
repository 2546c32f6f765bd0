// Web Push notifications of saved searches, offered only in browsers with support.
export function offerPush() {
  const place = document.querySelector("[data-push]");
  if (!place || !("serviceWorker" in navigator) || !("PushManager" in window) || !place.dataset.pushKey) return;
  const [button, status] = [place.querySelector("button"), place.querySelector("[role=status]")];
  place.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      status.textContent = (await subscribe(place.dataset)) || "";
      if (!status.textContent) location.reload();
    } catch (error) {
      status.textContent = `${place.dataset.pushFailed} ${error.message}`;
    }
    button.disabled = false;
  });
}

// Shows an error message, or hides it.
async function subscribe({ pushKey, pushWorker, pushAddress, pushToken, pushRefused }) {
  if ((await Notification.requestPermission()) !== "granted") return pushRefused;
  const registration = await navigator.serviceWorker.register(pushWorker, { scope: document.documentElement.dataset.root });
  await navigator.serviceWorker.ready;
  const options = { userVisibleOnly: true, applicationServerKey: bytes(pushKey) };
  const subscription = await registration.pushManager.subscribe(options);
  const answer = await fetch(pushAddress, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": pushToken },
    body: JSON.stringify({ ...subscription.toJSON(), name: named(navigator.userAgent) }),
  });
  return answer.ok ? "" : (await answer.json()).error;
}

function bytes(base64url) {
  const plain = atob(base64url.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

// A readable name: browser and operating system.
function named(agent) {
  const browser = ["Firefox", "Edg", "OPR", "Chrome", "Safari"].find((name) => agent.includes(name)) || "Browser";
  const system = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"].find((name) => agent.includes(name));
  return `${{ Edg: "Edge", OPR: "Opera" }[browser] || browser}${system ? ` on ${system}` : ""}`;
}
