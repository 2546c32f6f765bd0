// All scripts are enhancements: everything works without them.
import { chooseTogether } from "./choosing.js";
import { watchKeys } from "./keyboard.js";
import { keepPlaces } from "./playing.js";
import { startOffline } from "./offline.js";
import { watchArticles } from "./pane.js";
import { removeBroken } from "./pictures.js";
import { offerPush } from "./push.js";
import { markWhileScrolling } from "./scrolling.js";
import { offerSharing } from "./sharing.js";
import { rememberSidebar } from "./sidebar.js";
import { watchSwipes } from "./swipes.js";
import { closeMenus } from "./menus.js";

chooseTogether();
watchArticles();
watchKeys();
rememberSidebar();
if (document.querySelector("[data-arranging]")) import("./arranging.js").then(({ letArrange }) => letArrange());
offerPush();
markWhileScrolling();
watchSwipes();
keepPlaces();
offerSharing();
closeMenus();
removeBroken();
startOffline();
