// Search, the list of sections at the side, and buttons that copy code. Everything is in the site itself: no page
// asks another server for anything, and all of it works from files, too.
"use strict";

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// --- search -----------------------------------------------------------------------------
// Words that all must be found in an entry; the better the place, the higher it ranks.
const places = [["what", 8], ["title", 5], ["text", 1], ["code", 1]];
// A function is looked for by its name, which its page's usage has.
const weigh = (field, weight, entry) => (field === "code" && entry.what === "Usage" ? 6 : weight);

const score = (entry, words) => {
  let sum = 0;
  for (const word of words) {
    let best = 0;
    for (const [field, weight] of places) {
      const text = entry[field].toLowerCase();
      const at = text.indexOf(word);
      if (at < 0) continue;
      const whole = text === word || text.startsWith(word + "(");
      const start = at === 0 || !/[a-z0-9]/.test(text[at - 1]);
      best = Math.max(best, weigh(field, weight, entry) * (whole ? 4 : start ? 2 : 1));
    }
    if (best === 0) return 0;
    sum += best;
  }
  return sum;
};

const search = (query, most = 12) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = window.searchIndex
    .map((entry) => ({ entry, score: score(entry, words) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score);
  // Two places on a page are enough.
  const seen = new Map();
  return found.map((hit) => hit.entry).filter((entry) => {
    seen.set(entry.path, (seen.get(entry.path) || 0) + 1);
    return seen.get(entry.path) <= 2;
  }).slice(0, most);
};

const setUpSearch = () => {
  const input = document.getElementById("search-input");
  if (!input) return;
  const root = input.dataset.searchIndex.replace(/search\.json$/, "");
  const list = element("ul", { id: "search-results", hidden: true });
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-label", "Search");
  input.after(list);
  let chosen = -1;

  const choose = (i) => {
    const items = [...list.querySelectorAll("a")];
    if (!items.length) return;
    chosen = (i + items.length) % items.length;
    items.forEach((item, k) => item.classList.toggle("chosen", k === chosen));
    items[chosen].scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    const hits = search(input.value);
    chosen = -1;
    list.replaceChildren(...hits.map((hit) => element("li", {}, element("a",
      { href: root + hit.path + (hit.id ? "#" + hit.id : "") },
      element("strong", { textContent: hit.what }),
      element("span", { textContent: [hit.dir, hit.title === hit.what ? "" : hit.title].filter(Boolean).join(" › ") })
    ))));
    if (!hits.length) list.append(element("li", { className: "nothing", textContent: "Nothing found." }));
    list.hidden = input.value.trim() === "";
  };

  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  input.form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") (list.querySelector("a.chosen") || list.querySelector("a"))?.click();
    else if (event.key === "Escape") input.blur(), (list.hidden = true);
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!input.form.contains(event.target)) list.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(input|textarea)$/i.test(document.activeElement.tagName)) return;
    input.focus();
    event.preventDefault();
  });
};

// --- the list of sections ---------------------------------------------------------------
const setUpContents = () => {
  const toc = document.getElementById("toc");
  if (!toc) return;
  const anchor = (heading) => heading.id || heading.closest("[id]:not(main)")?.id;
  const headings = [...document.querySelectorAll("main h2, main h3")].filter(anchor);
  if (headings.length < 2) {
    toc.hidden = true;
    return;
  }
  const links = headings.map((heading) => element("a", {
    href: "#" + anchor(heading), textContent: heading.textContent.trim(), className: heading.matches("h3") ? "deeper" : "",
  }));
  toc.append(...links);
  const mark = () => {
    let now = 0;
    headings.forEach((heading, i) => {
      if (heading.getBoundingClientRect().top < 120) now = i;
    });
    links.forEach((link, i) => link.classList.toggle("now", i === now));
  };
  mark();
  document.addEventListener("scroll", mark, { passive: true });
};

// --- copies of code ---------------------------------------------------------------------
const setUpCopies = () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("main div.sourceCode")) {
    const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
    button.addEventListener("click", async () => {
      // Without results, which begin with #>
      const code = block.querySelector("pre").textContent.split("\n").filter((line) => !line.startsWith("#>"));
      await navigator.clipboard.writeText(code.join("\n").trimEnd() + "\n");
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
};

setUpSearch();
setUpContents();
setUpCopies();
