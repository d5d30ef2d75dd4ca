// pointer.js keeps the page as it is while a button of the mouse is held: what is let go is then
// what was pressed, and a click reaches it.
let held = false, later = [];

// atRest does work at once, or when the button is let go.
export function atRest(work) { if (held) later.push(work); else work(); }

// released resolves when no button is held.
export const released = () => new Promise(atRest);

function letGo() {
  held = false;
  for (const work of later.splice(0)) work();
}
addEventListener("pointerdown", e => { if (e.button === 0) held = true; }, true);
for (const kind of ["pointerup", "pointercancel", "dragend", "keydown"]) addEventListener(kind, letGo, true);
addEventListener("blur", letGo); // of the window
addEventListener("pointermove", e => { if (held && !e.buttons) letGo(); }, true); // let go outside of the window

// What was typed into a field is applied when something else is pressed, also where the press does
// not move the focus: at the begin of a drag.
addEventListener("pointerdown", e => {
  const el = document.activeElement;
  if (el?.matches(".form input, .form textarea, .data input, .data textarea") && !(el.closest(".combo") ?? el).contains(e.target)) el.blur();
}, true);
