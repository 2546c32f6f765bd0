// Everything works without these; they make it quicker.
import { watchKeys } from "./keyboard.js";
import { rememberSidebar } from "./sidebar.js";

watchKeys();
rememberSidebar();
