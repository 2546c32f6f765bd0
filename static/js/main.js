// Everything works without these; they make it quicker.
import { watchKeys } from "./keyboard.js";
import { rememberFolders } from "./folders.js";

watchKeys();
rememberFolders();
