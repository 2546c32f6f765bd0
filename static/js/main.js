// Everything works without these; they make it quicker.
import { chooseTogether } from "./choosing.js";
import { watchKeys } from "./keyboard.js";
import { offerPush } from "./push.js";
import { rememberSidebar } from "./sidebar.js";

chooseTogether();
watchKeys();
rememberSidebar();
offerPush();
