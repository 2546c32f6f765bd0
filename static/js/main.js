// Everything works without these; they make it quicker.
import { watchKeys } from "./keyboard.js";
import { startOffline } from "./offline.js";
import { offerPush } from "./push.js";
import { rememberSidebar } from "./sidebar.js";

watchKeys();
rememberSidebar();
offerPush();
startOffline();
