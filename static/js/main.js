// All scripts are enhancements: everything works without them.
import { chooseTogether } from "./choosing.js";
import { watchKeys } from "./keyboard.js";
import { playInPlace } from "./players.js";
import { keepPlaces } from "./playing.js";
import { startOffline } from "./offline.js";
import { offerPush } from "./push.js";
import { markWhileScrolling } from "./scrolling.js";
import { offerSharing } from "./sharing.js";
import { closeAnswers } from "./refreshing.js";
import { rememberSidebar } from "./sidebar.js";
import { watchSwipes } from "./swipes.js";
import { nameZone } from "./times.js";
import { setType } from "./typesetting.js";

nameZone();
chooseTogether();
watchKeys();
rememberSidebar();
closeAnswers();
if (document.querySelector("[data-arranging]")) import("./arranging.js").then(({ letArrange }) => letArrange());
offerPush();
markWhileScrolling();
watchSwipes();
keepPlaces();
playInPlace();
offerSharing();
setType();
startOffline();
