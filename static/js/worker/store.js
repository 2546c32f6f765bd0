// The database of one person: postings, unsent marks, and settings. The server concatenates these files into one script,
// worker.js last, after the constant `portal`.

const TABLES = { articles: "id", changes: "id", settings: "name" }; // name: key
const CHOICE = { name: "choice", length: 50, pictures: false }; // defaults; kept after signing out
const NOBODY = { name: "owner", person: "", version: "", pictures: false, fetchedAt: 0 };

let opened = null;

const answered = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("wirebeat", 1);
    request.onupgradeneeded = () => {
      for (const [name, keyPath] of Object.entries(TABLES)) request.result.createObjectStore(name, { keyPath });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  opened.catch(() => (opened = null));
  return opened;
}

// One transaction. The callback may only await the tables, since an idle transaction ends.
async function within(mode, work) {
  const transaction = (await database()).transaction(Object.keys(TABLES), mode);
  const ended = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("not stored"));
  });
  const tables = Object.fromEntries(Object.keys(TABLES).map((name) => [name, transaction.objectStore(name)]));
  let result;
  try {
    result = await work(tables);
  } catch (error) {
    ended.catch(() => {}); // this error is more specific
    transaction.abort();
    throw error;
  }
  await ended;
  return result;
}

const reading = (work) => within("readonly", work);
const writing = (work) => within("readwrite", work);

const choiceIn = async ({ settings }) => (await answered(settings.get("choice"))) ?? CHOICE;
const ownerIn = async ({ settings }) => (await answered(settings.get("owner"))) ?? NOBODY;
const theirChanges = async ({ changes }, person) =>
  (await answered(changes.getAll())).filter((change) => change.person === person).sort((a, b) => a.madeAt - b.madeAt);

// Sets the owner and deletes another person's data. Without an owner there are no articles, but unsent marks remain,
// since the session may just have ended; only another person's sign-in deletes them.
async function ownedBy(person) {
  const before = await writing(async (tables) => {
    const owner = await ownerIn(tables);
    if (owner.person === person) return person;
    tables.articles.clear();
    tables.settings.put({ ...NOBODY, person });
    if (person) {
      for (const change of await answered(tables.changes.getAll())) {
        if (change.person !== person) tables.changes.delete(change.id);
      }
    }
    return owner.person;
  });
  if (before !== person) await deletePictures();
}

async function forgetEverything() {
  await writing(async ({ articles, changes, settings }) => {
    articles.clear();
    changes.clear();
    settings.delete("owner");
  });
  await deletePictures();
}

async function deletePictures() {
  for (const name of await caches.keys()) if (name.startsWith("pictures-")) await caches.delete(name);
}
