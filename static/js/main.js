// All scripts are enhancements: everything works without them.
import { watchKeys } from "./keyboard.js";
import { playInPlace } from "./players.js";
import { keepPlaces } from "./playing.js";
import { closeMenus } from "./menus.js";
import { startOffline } from "./offline.js";
import { watchArticles } from "./pane.js";
import { removeBroken } from "./pictures.js";
import { markWhileScrolling } from "./scrolling.js";
import { offerSharing } from "./sharing.js";
import { closeAnswers } from "./refreshing.js";
import { rememberSidebar } from "./sidebar.js";
import { watchSwipes } from "./swipes.js";
import { nameZone } from "./times.js";

nameZone();
watchArticles();
watchKeys();
rememberSidebar();
closeAnswers();
// Only few pages need these.
const has = (selector) => document.querySelector(selector) !== null;
if (has("[data-arranging]")) import("./arranging.js").then(({ letArrange }) => letArrange());
if (has("[data-choosing]")) import("./choosing.js").then(({ chooseTogether }) => chooseTogether());
if (has("[data-push]")) import("./push.js").then(({ offerPush }) => offerPush());
markWhileScrolling();
watchSwipes();
keepPlaces();
playInPlace();
offerSharing();
closeMenus();
removeBroken();
startOffline();
