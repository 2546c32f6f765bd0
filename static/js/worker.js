// Shows what the portal tells this browser, and opens its page when somebody clicks on it.
self.addEventListener("push", (event) => {
  const said = event.data ? event.data.json() : {};
  const options = { body: said.body, tag: said.tag, data: { url: said.url } };
  event.waitUntil(self.registration.showNotification(said.title || "Wirebeat", options));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const url = new URL(event.notification.data?.url || "/", self.location.origin);
  if (url.origin === self.location.origin) event.waitUntil(self.clients.openWindow(url.href));
});
