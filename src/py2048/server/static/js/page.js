// What every page does.
import { offerThemes } from "./theme.js";

offerThemes(document.getElementById("theme"));
