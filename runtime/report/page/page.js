(() => {
  const rows = [...document.querySelectorAll(".event")], form = document.querySelector(".find");
  const open = () => {
    const row = location.hash && document.getElementById(location.hash.slice(1));
    if (row && row.matches(".event")) { row.hidden = false; row.open = true; row.scrollIntoView({ block: "center" }); }
  };
  if (form) {
    const query = form.querySelector("input[type=search]"), count = form.querySelector("output");
    const boxes = [...form.querySelectorAll(".pick input")], text = rows.map(r => r.textContent.toLowerCase());
    const show = () => {
      const on = new Set(boxes.filter(b => b.checked).map(b => b.value)), words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((r, i) => {
        r.hidden = !([...r.classList].some(c => on.has(c)) && words.every(w => text[i].includes(w)));
        if (!r.hidden) shown++;
      });
      count.textContent = shown + " of " + rows.length;
    };
    form.hidden = false;
    query.addEventListener("input", show);
    boxes.forEach(b => b.addEventListener("change", show));
    form.addEventListener("submit", e => e.preventDefault());
    addEventListener("keydown", e => {
      if (e.key === "/" && document.activeElement !== query && !e.ctrlKey && !e.metaKey && !e.altKey) { query.focus(); e.preventDefault(); }
      if (e.key === "Escape" && document.activeElement === query) { query.value = ""; show(); }
    });
    show();
  }
  // A stack of the drawing lists its members.
  const members = document.getElementById("members");
  document.querySelectorAll(".draw a[data-members]").forEach(a => a.addEventListener("click", e => {
    e.preventDefault();
    members.replaceChildren(...a.dataset.members.split(" ").map(link => {
      const to = document.createElement("a"), row = document.getElementById(link.slice(1));
      to.href = link;
      to.textContent = row ? row.querySelector(".name").textContent : link;
      return to;
    }));
  }));
  addEventListener("hashchange", open);
  addEventListener("beforeprint", () => rows.forEach(r => { if (r.classList.contains("failed")) { r.hidden = false; r.open = true; } }));
  open();
})();
