// SPDX-License-Identifier: Apache-2.0
// The list, what is chosen of it, keys and printing. Only the rows in sight are elements.

const ROW = 66, SPARE = 6, PRINTED = 200;
const state = {
  shown: [],
  at: -1,
  off: new Set(),
  marked: new Set()
};

const haystacks = FINDINGS.map(
  (finding) => [finding.id,
                finding.kind,
                finding.class,
                T(finding.about),
                T(finding.functions),
                T(finding.title),
                ...finding.sides.flatMap(
                  (side) =>
                    [T(side.actor), T(side.touched),
                     ...DATA.stacks[side.stack].slice(0, 8).flatMap(
                       (id) => [T(DATA.frames[id][0]), T(DATA.frames[id][1])])]),
                ...finding.sources.map(([tool]) => T(tool)),
].join("\n").toLowerCase());

const ORDERS = {
  last: (one, other) => FINDINGS[other].seen[1].localeCompare(FINDINGS[one].seen[1]),
  count: (one, other) => FINDINGS[other].seen[2] - FINDINGS[one].seen[2],
  name: (one, other) => T(FINDINGS[one].about).localeCompare(T(FINDINGS[other].about)),
};

function filter() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = byId("kind").value, status = byId("status").value,
        order = ORDERS[byId("order").value];
  const kept = state.shown[state.at];
  state.shown = FINDINGS.map((_, index) => index).filter((index) => {
    const finding = FINDINGS[index];
    return !state.off.has(finding.class) && (!kind || finding.kind === kind) &&
      (!status || finding.new === (status === "new")) &&
      words.every((word) => haystacks[index].includes(word));
  });
  if (order) state.shown.sort((one, other) => order(one, other) || one - other);
  byId("shown").textContent = state.shown.length === FINDINGS.length
    ? many(FINDINGS.length)
    : `${state.shown.length.toLocaleString("en")} of ${
        FINDINGS.length.toLocaleString("en")} findings`;
  byId("rows").style.height = `${state.shown.length * ROW}px`;
  const at = state.shown.indexOf(kept);
  choose(at >= 0 ? at : Math.min(0, state.shown.length - 1), at < 0);
  rows();
}

function rows() {
  const list = byId("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - SPARE);
  const last =
    Math.min(state.shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE);
  const made = [];
  for (let at = first; at < last; at++) made.push(row(at));
  byId("rows").replaceChildren(...made);
  const chosen = state.shown[state.at];
  list.setAttribute("aria-activedescendant", chosen === undefined ? "" : FINDINGS[chosen].id);
}

function row(at) {
  const finding = FINDINGS[state.shown[at]];
  const element = el(
    "div", {
      class: "row",
      role: "option",
      id: finding.id,
      "aria-selected": String(at === state.at),
      "aria-posinset": at + 1,
      "aria-setsize": state.shown.length,
      onclick: () => choose(at)
    },
    el(
      "div", {class: "top"},
      el(
        "span", {class: "what"}, T(finding.title).replace(/ \(.*\)$/, ""),
        finding.about ? [" ", el("code", {}, T(finding.about))] : null),
      state.marked.has(finding.id) ? el("span", {class: "star", title: "marked"}, "\u2605") : null,
      finding.new ? el("span", {class: "fresh"}, "new") : null),
    el(
      "div", {class: "top"}, el("span", {class: "where"}, T(finding.functions) || finding.id),
      klassChip(finding.class)));
  element.style.top = `${at * ROW}px`;
  return element;
}

function choose(at, quiet) {
  state.at = at;
  const finding = FINDINGS[state.shown[at]];
  show(finding);
  if (finding && !quiet) history.replaceState(null, "", `#${finding.id}`);
  const list = byId("list"), top = at * ROW;
  if (top < list.scrollTop)
    list.scrollTop = top;
  else if (top + ROW > list.scrollTop + list.clientHeight)
    list.scrollTop = top + ROW - list.clientHeight;
  rows();
}

let drawn = null;
function show(finding) {
  const article = byId("finding");
  const width = Math.min(article.clientWidth - 58, 1118);
  if (drawn && drawn.finding === finding && drawn.width === width) return;
  if (!drawn || drawn.finding !== finding) article.scrollTop = 0;
  drawn = {finding, width};
  article.replaceChildren(finding ? findingView(finding, width) : nothing());
}

function nothing() {
  if (FINDINGS.length) return el("p", {class: "empty"}, "No finding matches. Esc shows all again.");
  return el(
    "div", {class: "empty"}, el("h2", {}, "Nothing was found"),
    el("p", {}, "That is no proof that there is nothing. What was looked at:"), notes());
}

const notes = () => el("ul", {}, DATA.summary.notes.map((note) => el("li", {}, note)));

// --- filters

function fillFilters() {
  const classes =
    Object.keys(DATA.meanings).filter((name) => FINDINGS.some((finding) => finding.class === name));
  byId("classes").append(...(classes.length > 1 ? classes : []).map((name) => {
    const count = FINDINGS.filter((finding) => finding.class === name).length;
    const button = el(
      "button",
      {type: "button", class: `klass ${name}`, "aria-pressed": "true", title: DATA.meanings[name]},
      `${name} ${count.toLocaleString("en")}`);
    button.addEventListener("click", () => {
      if (!state.off.delete(name)) state.off.add(name);
      button.setAttribute("aria-pressed", String(!state.off.has(name)));
      filter();
    });
    return button;
  }));
  const kinds = [...new Set(FINDINGS.map((finding) => finding.kind))].sort();
  byId("kind").append(
    el("option", {value: ""}, "all kinds"),
    ...kinds.map((kind) => el("option", {value: kind}, kind)));
  byId("kind").hidden = kinds.length < 2;
  byId("status").hidden =
    FINDINGS.every((finding) => finding.new) || !FINDINGS.some((finding) => finding.new);
  byId("order").hidden = FINDINGS.length < 2;
  for (const id of ["kind", "status", "order"]) byId(id).addEventListener("change", filter);
  byId("search").addEventListener("input", filter);
  document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
}

function clearFilters() {
  byId("search").value = "";
  for (const id of ["kind", "status"]) byId(id).value = "";
  state.off.clear();
  for (const button of byId("classes").children) button.setAttribute("aria-pressed", "true");
  filter();
}

const many = (count) => `${count.toLocaleString("en")} ${count === 1 ? "finding" : "findings"}`;

function counts() {
  const fresh = FINDINGS.filter((finding) => finding.new).length;
  const parts = [many(FINDINGS.length)];
  if (fresh !== FINDINGS.length) parts.push(`${fresh} new`);
  if (DATA.summary.gone.length) parts.push(`${DATA.summary.gone.length} gone`);
  if (DATA.summary.suppressed) parts.push(`${DATA.summary.suppressed} suppressed`);
  return parts.join(", ");
}

// --- keys

const KEYS = {
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
  PageDown: () => move(8),
  PageUp: () => move(-8),
  Home: () => move(-Infinity),
  End: () => move(Infinity),
  "/": () => byId("search").focus(),
  c: () => {
    const finding = FINDINGS[state.shown[state.at]];
    if (finding && finding.replay) copy(T(finding.replay));
  },
  e: () => {
    const all = [...byId("finding").querySelectorAll("details")];
    const open = !all.every((one) => one.open);
    all.forEach((one) => {
      one.open = open;
    });
  },
  m: () => mark(),
  "?": () => toggleHelp(),
};
const OF_THE_LIST = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"]);

function move(by) {
  if (state.shown.length) choose(Math.max(0, Math.min(state.shown.length - 1, state.at + by)));
}

/** For `--gen-suppressions`: a page cannot write files, so it gives the command. */
function mark() {
  const finding = FINDINGS[state.shown[state.at]];
  if (!finding) return;
  if (!state.marked.delete(finding.id)) state.marked.add(finding.id);
  const button = byId("marked");
  button.hidden = !state.marked.size;
  button.textContent = `${state.marked.size} marked: copy the command`;
  rows();
}

const suppressing = () => ["eitherway report FINDINGS --gen-suppressions FILE",
                           ...[...state.marked].map((id) => `--mark ${id}`)]
                            .join(" ");

function toggleHelp() {
  byId("keys").hidden = !byId("keys").hidden;
  byId("help").setAttribute("aria-expanded", String(!byId("keys").hidden));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") {
    clearFilters();
    byId("list").focus();
    return;
  }
  if (typing && !(event.target.id === "search" && /^Arrow(Up|Down)$/.test(event.key))) return;
  if (
    OF_THE_LIST.has(event.key) && event.target !== byId("list") && event.target !== document.body &&
    event.target.id !== "search")
    return;
  const act = KEYS[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

// --- printing: what the filter shows, one after the other

addEventListener("beforeprint", () => {
  const some = state.shown.slice(0, PRINTED).map((index) => FINDINGS[index]);
  const rest = state.shown.length - some.length;
  const cover = el(
    "div", {class: "cover"}, el("h1", {}, "EitherWay"), el("p", {}, counts()),
    rest ? el("p", {}, `The first ${PRINTED} are printed; ${rest} more are in the file.`) : null);
  byId("print").replaceChildren(
    cover, ...some.map((finding) => findingView(finding, 850)), notes());
});
addEventListener("afterprint", () => byId("print").replaceChildren());

// --- begin

function begin() {
  byId("counts").textContent = counts();
  document.title = `EitherWay: ${counts()}`;
  fillFilters();
  try {
    byId("editor").value = localStorage.getItem("eitherway-editor") || "vscode";
  } catch {
    byId("editor").value = "vscode";
  }
  byId("editor").addEventListener("change", () => {
    try {
      localStorage.setItem("eitherway-editor", byId("editor").value);
    } catch { /* kept for this page alone */
    }
    drawn = null;
    choose(state.at, true);
  });
  byId("help").addEventListener("click", toggleHelp);
  byId("marked").addEventListener("click", () => copy(suppressing()));
  byId("list").addEventListener("scroll", rows, {passive: true});
  new ResizeObserver(() => {
    rows();
    choose(state.at, true);
  }).observe(byId("finding"));
  addEventListener("hashchange", follow);
  filter();
  follow();
}

/** To the finding that the address names. */
function follow() {
  const at = state.shown.findIndex((index) => `#${FINDINGS[index].id}` === location.hash);
  if (at >= 0) choose(at, true);
}

begin();
