// A button beside each block of code copies it: of a console the commands without their prompts.
(function () {
  "use strict";

  function textOf(pre) {
    var commands = pre.querySelectorAll(".cmd");
    if (commands.length === 0) { return pre.textContent; }
    return Array.prototype.map.call(commands, function (c) { return c.textContent + "\n"; }).join("");
  }

  // Without a secure context there is only the selection.
  function copy(text) {
    if (navigator.clipboard) { return navigator.clipboard.writeText(text); }
    var area = document.createElement("textarea");
    area.value = text;
    document.body.appendChild(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    return done ? Promise.resolve() : Promise.reject(new Error("copy"));
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll(".code").forEach(function (block) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      function show(text) {
        button.textContent = text;
        setTimeout(function () { button.textContent = "Copy"; }, 2000);
      }
      button.addEventListener("click", function () {
        copy(textOf(block.querySelector("pre"))).then(function () { show("Copied"); }, function () { show("Failed"); });
      });
      block.appendChild(button);
    });
    var here = document.querySelector("nav.pages a[aria-current]"), nav = document.querySelector("nav.pages");
    if (here && nav) { nav.scrollTop = here.offsetTop - nav.clientHeight / 2; }
  });
})();
