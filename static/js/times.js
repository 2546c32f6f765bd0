const YEAR = 365 * 86_400; // s

/** Name the browser's time zone to the portal, which writes times in it unless the user has chosen another one. */
export function nameZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || document.cookie.split("; ").includes(`zone=${zone}`)) return;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `zone=${zone}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
}

/** A time as the portal's pages write it: day first, and 24 hours. */
export function writeTime(date) {
  const language = document.documentElement.lang;
  const format = { dateStyle: "long", timeStyle: "short" };
  return new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, format).format(date);
}
