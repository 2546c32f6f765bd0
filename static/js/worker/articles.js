// The person's newest postings as parts of pages.

const FETCH_EVERY = 15 * 60_000; // ms

const fetchArticles = () => oneAtATime("articles", fetchAll);

const fetchIfDue = () =>
  oneAtATime("articles", async () => {
    const owner = await reading(ownerIn);
    const isDue = owner.version !== portal.version || Date.now() - owner.fetchedAt > FETCH_EVERY;
    if (owner.person && isDue && !navigator.connection?.saveData) await fetchAll();
  });

async function fetchAll() {
  const choice = await reading(choiceIn);
  const list = await requestJson(`${portal.list}?n=${choice.length}`);
  if (list.version !== portal.version) return void (await self.registration.update());
  await ownedBy(list.person);
  const kept = await reading(async (tables) => {
    const owner = await ownerIn(tables);
    const isSame = owner.version === portal.version && owner.pictures === choice.pictures;
    return new Map(isSame ? (await answered(tables.articles.getAll())).map((one) => [one.id, one]) : []);
  });
  const missing = list.articles.filter(({ id, version }) => kept.get(id)?.version !== version);
  for (const article of await fetchTexts(missing, list.person, choice)) kept.set(article.id, article);
  await keep(list, kept, choice);
  await keepPictures(list.person);
  await deleteOldShells();
}

async function fetchTexts(missing, person, { pictures }) {
  const fetched = [];
  for (let start = 0; start < missing.length; start += portal.atOnce) {
    const ids = missing.slice(start, start + portal.atOnce).map(({ id }) => id);
    const reply = await requestJson(`${portal.articles}?ids=${ids}&pictures=${pictures ? "yes" : "no"}`);
    if (reply.version !== portal.version || reply.person !== person) throw new Unreachable("the portal changed meanwhile");
    fetched.push(...reply.articles);
  }
  return fetched;
}

// Replaces all stored postings, so that versions are never mixed. Unsent marks take precedence over the portal's.
async function keep(list, kept, { pictures }) {
  await writing(async (tables) => {
    const owner = await ownerIn(tables);
    if (owner.person !== list.person) return; // signed out meanwhile
    const waiting = await theirChanges(tables, owner.person);
    tables.articles.clear();
    let bytes = 0;
    for (const [place, { id, unread, starred }] of list.articles.entries()) {
      const article = kept.get(id);
      if (!article) continue;
      const size = 2 * (article.row.length + article.page.length); // UTF-16
      if (bytes + size > portal.mostKept) break;
      bytes += size;
      const marked = waiting.filter((change) => change.posting === id).map(({ field, value }) => stateOf(field, value));
      tables.articles.put(Object.assign({ ...article, place, size, unread, starred }, ...marked));
    }
    tables.settings.put({ ...owner, version: portal.version, pictures, fetchedAt: Date.now(), bytes });
  });
}

// Of the first postings, as many as fit beside the texts.
async function keepPictures(person) {
  const { owner, articles } = await reading(async (tables) => ({
    owner: await ownerIn(tables),
    articles: (await answered(tables.articles.getAll())).sort((a, b) => a.place - b.place),
  }));
  if (owner.person !== person) return;
  const wanted = new Set(articles.flatMap((article) => article.pictures));
  const name = `pictures-${person}`;
  if (!wanted.size) return void (await caches.delete(name));
  const cache = await caches.open(name);
  for (const request of await cache.keys()) {
    if (!wanted.has(new URL(request.url).pathname)) await cache.delete(request);
  }
  let bytes = owner.bytes;
  for (const address of wanted) {
    const answer = (await cache.match(address)) ?? (await fetch(address).catch(() => null));
    if (!answer?.ok) continue;
    const size = (await answer.clone().blob()).size;
    if (bytes + size > portal.mostKept) break;
    await cache.put(address, answer);
    bytes += size;
  }
  await writing(async (tables) => {
    const present = await ownerIn(tables);
    if (present.person === person) tables.settings.put({ ...present, bytes });
  });
  if ((await reading(ownerIn)).person !== person) await caches.delete(name); // signed out meanwhile
}
