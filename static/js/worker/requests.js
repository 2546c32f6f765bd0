// Requests to the portal.

class Unreachable extends Error {} // for now
class Refused extends Error {} // permanently

async function requestJson(address, options = {}) {
  let answer;
  try {
    answer = await fetch(address, { cache: "no-store", credentials: "same-origin", ...options });
  } catch (error) {
    throw new Unreachable(error.message);
  }
  if (answer.status === 429 || answer.status >= 500) throw new Unreachable(`status ${answer.status}`);
  if (!answer.ok) throw new Refused(`status ${answer.status}`);
  return answer.json();
}

// Several pages may trigger this at once.
const oneAtATime = (name, work) => (navigator.locks ? navigator.locks.request(name, work) : work());

const atMost = (milliseconds, promise) =>
  Promise.race([
    promise,
    new Promise((_, reject) => setTimeout(() => reject(new Unreachable("too slow")), milliseconds)),
  ]);
