// app.js shows the pages of ccm fleet serve. The server sends each as elements, [name, attributes,
// ...children], where text is text (runtime/markup); the hash of the address says which.

const page = document.getElementById("page"), trouble = document.getElementById("trouble"), when = document.getElementById("when");
const refreshed = 3000;

// element makes a node of what the server sends.
function element(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [name, attrs, ...children] = node;
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attrs)) {
    if (key === "style") {
      for (const rule of value.split(";")) {
        const at = rule.indexOf(":");
        if (at > 0) e.style.setProperty(rule.slice(0, at).trim(), rule.slice(at + 1).trim());
      }
    } else e.setAttribute(key, value);
  }
  e.append(...children.map(element));
  return e;
}

function report(text) {
  trouble.textContent = text;
  trouble.hidden = !text;
  page.classList.toggle("old", !!text); // what is shown is not what there is now
}

// draw keeps what a person has opened while the page is drawn again.
function draw(tree) {
  const open = new Set([...page.querySelectorAll("details[open]")].map(e => e.id));
  page.replaceChildren(element(tree));
  for (const e of page.querySelectorAll("details")) if (open.has(e.id)) e.open = true;
}

let shown = "", text = "";
async function load() {
  const hash = location.hash.startsWith("#/") ? location.hash.slice(2) : "";
  const [name, ...rest] = hash.split("/").map(decodeURIComponent);
  const query = new URLSearchParams({ page: name || "overview", a: rest[0] ?? "", b: rest[1] ?? "" });
  let answer;
  try {
    const res = await fetch("/api/page?" + query);
    answer = await res.json();
    if (!res.ok) {
      if (hash !== shown) page.replaceChildren(); // of another address
      return report(answer.error + (answer.hint ? ": " + answer.hint : ""));
    }
  } catch {
    return report("ccm fleet serve does not respond" + (when.textContent && "; this page is from " + when.textContent));
  }
  report("");
  const next = JSON.stringify(answer.body);
  if (hash !== shown || next !== text) draw(answer.body);
  [shown, text] = [hash, next];
  document.title = answer.title + " - ccm fleet";
  when.textContent = new Date(answer.time).toLocaleTimeString();
}

async function begin() {
  const given = new URLSearchParams(location.hash.slice(1)), token = given.get("token");
  if (token) { // it does not stay in the address, nor in the history
    history.replaceState(null, "", "/#" + (given.get("to") ?? "/"));
    await fetch("/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) });
  }
  addEventListener("hashchange", load);
  await load();
  setInterval(() => { if (!document.hidden) load(); }, refreshed);
}
begin();
