// Pages rendered by the worker: the shell of one version of the portal, with its styles and scripts, filled with stored
// content. The shell's files are below an address with its version, so that versions are never mixed; the portal's own
// pages get nothing from here.

const FILES = "/offline/files/";
const shellName = (version) => `shell-${version}`;
const filesOf = (version) => `${FILES}${version}/`;

async function keepShell() {
  const cache = await caches.open(shellName(portal.version));
  await Promise.all(
    Object.entries(portal.digests).map(async ([address, digest]) => {
      const answer = await fetch(address, { cache: "no-cache" });
      const content = await answer.arrayBuffer();
      const found = hexadecimal(await crypto.subtle.digest("SHA-256", content));
      if (!answer.ok || found !== digest) throw new Error(`${address} is of another version`);
      // A constructed response has no address: relative URLs are resolved against that of the request.
      const kept = new Response(content, { headers: { "Content-Type": answer.headers.get("Content-Type") } });
      await cache.put(filesOf(portal.version) + address.slice(portal.static.length), kept);
    }),
  );
  const frame = await fetch(portal.shell, { cache: "no-store" });
  const text = await frame.clone().text();
  if (!text.includes(`<!-- version ${portal.version} -->`)) throw new Error("the frame is of another version");
  await cache.put(portal.shell, frame);
}

const hexadecimal = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

async function deleteOldShells() {
  const { version } = await reading(ownerIn);
  const needed = new Set([shellName(portal.version), shellName(version)]);
  for (const name of await caches.keys()) {
    if (name.startsWith("shell-") && !needed.has(name)) await caches.delete(name);
  }
}

async function shellFile(url) {
  const version = url.pathname.slice(FILES.length).split("/")[0];
  return (await caches.match(url.pathname, { cacheName: shellName(version) })) ?? new Response("", { status: 404 });
}

// Replaces the content between two comments of the shell.
function filled(page, name, html) {
  return page.replace(new RegExp(`<!-- ${name} -->[^]*<!-- /${name} -->`), () => html);
}

const withoutMarkup = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

async function framed(version, status, fill) {
  const frame = await caches.match(portal.shell, { cacheName: shellName(version) });
  if (!frame) return null;
  const page = fill(await frame.text()).replaceAll(`="${portal.static}`, () => `="${filesOf(version)}`);
  const headers = new Headers(frame.headers); // with the content security policy
  for (const name of ["Content-Length", "Content-Encoding"]) headers.delete(name);
  return new Response(page, { status, headers });
}

// The stored page at an address, or null.
async function keptPage(path) {
  if (path === portal.river || path === "/") return listPage(200);
  const id = postingAt(path);
  if (!id) return null;
  const { owner, article } = await reading(async (tables) => ({
    owner: await ownerIn(tables),
    article: await answered(tables.articles.get(id)),
  }));
  if (!article) return null;
  return framed(owner.version, 200, (page) =>
    filled(page, "page", article.page).replace(
      /<title>[^]*<\/title>/,
      () => `<title>${withoutMarkup(article.title)} – Wirebeat</title>`,
    ),
  );
}

function postingAt(path) {
  const [number, rest, ...others] = path.startsWith(portal.posting) ? path.slice(portal.posting.length).split("/") : [];
  return rest === "" && !others.length && /^\d+$/.test(number) ? Number(number) : null;
}

async function listPage(status) {
  const { owner, articles } = await reading(async (tables) => ({
    owner: await ownerIn(tables),
    articles: await answered(tables.articles.getAll()),
  }));
  const newestFirst = articles.sort((a, b) => Date.parse(b.publishedAt) - Date.parse(a.publishedAt) || b.id - a.id);
  const version = articles.length ? owner.version : portal.version;
  return framed(version, status, (page) => {
    const withRows = filled(page, "rows", newestFirst.map((article) => article.row).join(""));
    const complete = status === 200 ? filled(withRows, "missing", "") : withRows;
    return articles.length ? filled(complete, "empty", "") : complete;
  });
}
