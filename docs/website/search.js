// The search of the site. Its index, index.js, is loaded when somebody begins to search. All text
// is put into the page as text, never as HTML.
(function () {
  "use strict";
  var root = document.currentScript.dataset.root;
  var form, input, list, chosen = -1, loading = false;
  var most = 20;

  function load(then) {
    if (window.ccmIndex) { then(); return; }
    if (loading) { return; }
    loading = true;
    var s = document.createElement("script");
    s.src = root + "index.js";
    s.onload = function () { loading = false; prepare(); then(); };
    document.head.appendChild(s);
  }

  // What is compared is in lower case.
  function prepare() {
    window.ccmIndex.forEach(function (e) {
      e.title = e[1].toLowerCase();
      e.heading = e[2].toLowerCase();
      e.body = e[3].toLowerCase();
    });
  }

  function has(text, word) { return text.indexOf(word) >= 0; }

  // The part of a word that its other forms have, too.
  function stem(word) { return word.length > 5 ? word.replace(/(?:ing|ed|es|s)$/, "") : word; }

  // The words of a query, each with what means the same: first the word, then its stem, then synonyms. A phrase of the
  // table of synonyms is one of them. Synonyms of three letters are left out: other words contain them.
  function terms(query) {
    var list = [];
    function long(phrase) { return phrase.length > 3; }
    window.ccmSynonyms.forEach(function (group) {
      group.forEach(function (phrase) {
        if (has(phrase, " ") && has(query, phrase)) {
          query = query.replace(phrase, " ");
          list.push([phrase, phrase].concat(group.filter(long)));
        }
      });
    });
    query.split(/\s+/).filter(Boolean).forEach(function (word) {
      var term = [word, stem(word)];
      window.ccmSynonyms.forEach(function (group) {
        if (group.some(function (phrase) { return phrase === word || stem(phrase) === stem(word); })) { term = term.concat(group.filter(long)); }
      });
      list.push(term);
    });
    return list;
  }

  // How well a section fits a word.
  function scoreOf(e, w) {
    var s = 0, own = e.heading || e.title;
    if (own === w || own === "type " + w || own === "ccm " + w) { s += 40; }
    if (has(own, w)) { s += own.indexOf(w) === 0 ? 16 : 10; }
    if (has(e.title, w)) { s += 4; }
    if (has(e.body, w)) { s += 2; }
    return s;
  }

  // How well a section fits all terms, 0 if it lacks one. A synonym counts a third of the word itself.
  function score(e, list, query) {
    var sum = 0;
    for (var i = 0; i < list.length; i++) {
      var best = 0;
      for (var j = 0; j < list[i].length; j++) { best = Math.max(best, scoreOf(e, list[i][j]) / (j > 1 ? 3 : 1)); }
      if (best === 0) { return 0; }
      sum += best;
    }
    if (has(query, " ") && has(e.body, query)) { sum += 5; }
    return e.heading ? sum : sum + 3;
  }

  function fitting(query) {
    var found = [], list = terms(query);
    if (list.length === 0) { return []; }
    window.ccmIndex.forEach(function (e, i) {
      var s = score(e, list, query);
      if (s > 0) { found.push({ entry: e, score: s, order: i, word: list[0][0] }); }
    });
    found.sort(function (a, b) { return b.score - a.score || a.order - b.order; });
    return found.slice(0, most);
  }

  // How many letters differ between two words.
  function distance(a, b) {
    var row = [];
    for (var j = 0; j <= b.length; j++) { row.push(j); }
    for (var i = 1; i <= a.length; i++) {
      var diagonal = row[0];
      row[0] = i;
      for (j = 1; j <= b.length; j++) {
        var next = Math.min(row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] === b[j - 1] ? 0 : 1));
        diagonal = row[j];
        row[j] = next;
      }
    }
    return row[b.length];
  }

  // The word of a title or heading that a misspelled word is nearest to, or the word itself.
  function corrected(word) {
    var best = word, least = word.length < 6 ? 2 : 3;
    window.ccmIndex.forEach(function (e) {
      (e.heading || e.title).split(/[^a-z0-9_]+/).forEach(function (w) {
        if (Math.abs(w.length - word.length) >= least) { return; }
        var d = distance(w, word);
        if (d < least) { best = w; least = d; }
      });
    });
    return best;
  }

  function find(query) {
    var words = query.toLowerCase().split(/\s+/).filter(Boolean);
    var found = fitting(words.join(" "));
    return found.length > 0 ? found : fitting(words.map(corrected).join(" "));
  }

  // A part of the text around the first word.
  function excerpt(f) {
    var at = f.entry.body.indexOf(f.word), text = f.entry[3];
    if (at < 0) { at = 0; }
    var from = Math.max(0, at - 40);
    if (from > 0) { from = text.indexOf(" ", from) + 1; }
    return (from > 0 ? "… " : "") + text.slice(from, from + 120) + (text.length > from + 120 ? " …" : "");
  }

  function element(name, text, className) {
    var e = document.createElement(name);
    e.textContent = text;
    if (className) { e.className = className; }
    return e;
  }

  function show() {
    var query = input.value.trim();
    list.textContent = "";
    chosen = -1;
    list.hidden = query === "";
    if (query === "") { return; }
    var found = find(query);
    found.forEach(function (f) {
      var item = document.createElement("li"), a = document.createElement("a");
      a.href = root + f.entry[0];
      a.appendChild(element("strong", f.entry[2] || f.entry[1]));
      if (f.entry[2]) { a.appendChild(element("span", f.entry[1], "where")); }
      a.appendChild(element("small", excerpt(f)));
      item.appendChild(a);
      list.appendChild(item);
    });
    if (found.length === 0) { list.appendChild(element("li", "Nothing has all of these words.", "none")); }
  }

  function search() { load(show); }

  function choose(step) {
    var items = list.querySelectorAll("a");
    if (items.length === 0) { return; }
    if (chosen >= 0) { items[chosen].classList.remove("chosen"); }
    chosen = (chosen + step + items.length) % items.length;
    items[chosen].classList.add("chosen");
    items[chosen].scrollIntoView({ block: "nearest" });
  }

  function close() { list.hidden = true; chosen = -1; }

  document.addEventListener("DOMContentLoaded", function () {
    form = document.querySelector("form.search");
    input = document.getElementById("search");
    list = document.getElementById("results");
    form.hidden = false;
    input.addEventListener("focus", function () { load(function () { if (input.value) { show(); } }); });
    input.addEventListener("input", search);
    input.addEventListener("keydown", function (e) {
      if (e.key === "ArrowDown") { choose(1); e.preventDefault(); }
      if (e.key === "ArrowUp") { choose(-1); e.preventDefault(); }
      if (e.key === "Escape") { input.value = ""; close(); input.blur(); }
    });
    form.addEventListener("submit", function (e) {
      e.preventDefault();
      var items = list.querySelectorAll("a");
      if (items.length > 0) { close(); location.href = items[Math.max(0, chosen)].href; }
    });
    document.addEventListener("click", function (e) { if (!form.contains(e.target)) { close(); } });
    document.addEventListener("keydown", function (e) {
      var inField = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) && document.activeElement.type !== "checkbox";
      if (e.key === "/" && !inField && !e.ctrlKey && !e.metaKey && !e.altKey) {
        input.focus();
        e.preventDefault();
      }
    });
    // A link such as plans.html?q=refresh searches.
    var query = new URLSearchParams(location.search).get("q");
    if (query) { input.value = query; search(); }
  });
})();
