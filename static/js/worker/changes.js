// Marks made without a network: stored with an id until the portal acknowledges them. A mark that is sent twice, because
// the response was lost, is applied once.

async function keepChange({ posting, field, value }) {
  await writing(async (tables) => {
    const { person } = await ownerIn(tables);
    if (!person) return;
    const waiting = await theirChanges(tables, person);
    // Monotonic even if the clock is changed.
    const madeAt = Math.max(Date.now(), ...waiting.map((change) => change.madeAt + 1));
    for (const change of waiting) {
      if (change.posting === posting && change.field === field) tables.changes.delete(change.id);
    }
    tables.changes.put({ id: crypto.randomUUID(), person, posting, field, value, madeAt });
    const article = await answered(tables.articles.get(posting));
    if (article) tables.articles.put({ ...article, ...stateOf(field, value) });
  });
  await self.registration.sync?.register("changes").catch(() => {}); // otherwise pages send them
}

const stateOf = (field, value) => (field === "read" ? { unread: !value } : { starred: value });

const waitingChanges = () =>
  reading(async (tables) => {
    const { person } = await ownerIn(tables);
    return person ? theirChanges(tables, person) : [];
  });

// Resolves to whether something was sent; throws if the portal is unreachable.
const sendChanges = () => oneAtATime("changes", sendAll);

async function sendAll() {
  if (!(await waitingChanges()).length) return false;
  const { person, token } = await requestJson(`${portal.list}?n=0`);
  await ownedBy(person);
  for (;;) {
    const batch = (await waitingChanges()).slice(0, portal.mostChanges);
    if (!batch.length) return true;
    const { outcomes } = await requestJson(portal.changes, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: JSON.stringify({ person, sent_at: Date.now(), changes: batch.map(asSent) }),
    });
    const heard = batch.filter((change) => change.id in outcomes);
    if (!heard.length) throw new Refused("none of the changes was heard");
    await writing(async ({ changes }) => heard.forEach((change) => changes.delete(change.id)));
  }
}

const asSent = ({ id, posting, field, value, madeAt }) => ({ id, posting, field, value, made_at: madeAt });
