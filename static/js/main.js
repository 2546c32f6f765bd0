// Everything works without these; they make it quicker.
import { watchKeys } from "./keyboard.js";
import { offerPush } from "./push.js";
import { rememberSidebar } from "./sidebar.js";

watchKeys();
rememberSidebar();
if (document.querySelector("[data-arranging]")) import("./arranging.js").then(({ letArrange }) => letArrange());
offerPush();
