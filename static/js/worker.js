// The service worker: shows notifications, stores postings, serves them without a network, and sends marks made there.

const PATIENCE = 5_000; // ms until a stored page is served instead
const LAST_WORDS = 3_000; // ms to send marks before signing out

self.addEventListener("install", (event) => event.waitUntil(keepShell().then(() => self.skipWaiting())));

self.addEventListener("activate", (event) =>
  event.waitUntil(
    Promise.all([deleteOldShells(), self.registration.navigationPreload?.enable()]).then(() => self.clients.claim()),
  ),
);

// --- notifications ---------------------------------------------------------------------------------------------------
self.addEventListener("push", (event) => {
  const message = event.data ? event.data.json() : {};
  const options = { body: message.body, tag: message.tag, data: { url: message.url } };
  event.waitUntil(self.registration.showNotification(message.title || "Wirebeat", options));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const url = new URL(event.notification.data?.url || self.registration.scope);
  if (url.origin === self.location.origin) event.waitUntil(self.clients.openWindow(url.href));
});

// --- requests for pages ----------------------------------------------------------------------------------------------
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== self.location.origin) return;
  if (request.method === "POST" && url.pathname === portal.signOut) event.respondWith(signOut(request));
  if (request.method !== "GET") return;
  if (request.destination === "document") event.respondWith(page(event, url.pathname));
  else if (url.pathname.startsWith(FILES)) event.respondWith(shellFile(url));
  else if (url.pathname.startsWith(portal.pictures)) event.respondWith(picture(request));
});

// The portal's page, or the stored one if that fails or takes too long.
async function page(event, path) {
  const isAway = (answer) => [502, 503, 504].includes(answer.status);
  const ownPage = Promise.resolve(event.preloadResponse).then((answer) => answer || fetch(event.request));
  ownPage.catch(() => {}); // it may fail after the stored one was served
  const kept = () => keptPage(path).catch(() => null);
  let answer = null;
  try {
    answer = await atMost(PATIENCE, ownPage);
    if (!isAway(answer)) return answer;
  } catch (error) {
    if (error instanceof Unreachable) return (await kept()) ?? ownPage;
  }
  return (await kept()) ?? answer ?? (await listPage(503).catch(() => null)) ?? Response.error();
}

async function picture(request) {
  try {
    return await fetch(request);
  } catch {
    const { person } = await reading(ownerIn);
    return (await caches.match(request.url, { cacheName: `pictures-${person}` })) ?? Response.error();
  }
}

async function signOut(request) {
  await atMost(LAST_WORDS, sendChanges()).catch(() => {});
  await forgetEverything();
  return fetch(request);
}

// --- back online -----------------------------------------------------------------------------------------------------
self.addEventListener("sync", (event) => {
  if (event.tag === "changes") event.waitUntil(sendAndTell());
});

// The browser retries later if the portal is unreachable, but not after a refusal.
async function sendAndTell() {
  try {
    if (await sendChanges()) await fetchArticles();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  } finally {
    await tellPages();
  }
}

async function situation() {
  const waiting = await waitingChanges();
  return { waiting: waiting.map(({ posting, field }) => ({ posting, field })) };
}

async function tellPages() {
  const message = await situation();
  for (const client of await self.clients.matchAll({ type: "window" })) client.postMessage(message);
}

// --- messages of pages -----------------------------------------------------------------------------------------------
const TASKS = {
  // A page of this person was loaded; of a visitor, with "".
  async visit({ person }) {
    await ownedBy(person);
    return { after: person ? () => sendAndTell().then(fetchIfDue) : null, ...(await situation()) };
  },
  async change({ change }) {
    await keepChange(change);
    await tellPages();
    return situation();
  },
  async send() {
    await sendAndTell();
    return situation();
  },
  // The marks of postings as known to this browser.
  async states({ ids }) {
    const known = await reading(({ articles }) => Promise.all(ids.map((id) => answered(articles.get(id)))));
    const states = known.filter(Boolean).map(({ id, unread, starred }) => ({ id, unread, starred }));
    return { states, ...(await situation()) };
  },
  async about() {
    return reading(async (tables) => {
      const [choice, owner] = [await choiceIn(tables), await ownerIn(tables)];
      const waiting = owner.person ? (await theirChanges(tables, owner.person)).length : 0;
      const articles = await answered(tables.articles.count());
      return { ...choice, articles, bytes: owner.bytes ?? 0, fetchedAt: owner.fetchedAt, waiting };
    });
  },
  async choose({ length, pictures }) {
    await writing(async ({ settings }) => settings.put({ name: "choice", length, pictures }));
    await fetchArticles();
    return TASKS.about();
  },
  async fetch() {
    await fetchArticles();
    return TASKS.about();
  },
  async forget() {
    await writing(async (tables) => {
      const owner = await ownerIn(tables);
      tables.articles.clear();
      tables.settings.put({ ...(await choiceIn(tables)), length: 0 });
      tables.settings.put({ ...NOBODY, person: owner.person });
    });
    await deletePictures();
    return TASKS.about();
  },
};

self.addEventListener("message", (event) => {
  const task = Object.hasOwn(TASKS, event.data?.do) && TASKS[event.data.do];
  const [port] = event.ports;
  if (!task || !port) return;
  const done = task(event.data).then(
    ({ after, ...message }) => {
      port.postMessage(message);
      return after?.();
    },
    (error) => port.postMessage({ error: error.message }),
  );
  event.waitUntil(done.catch(() => {})); // a later page retries
});
