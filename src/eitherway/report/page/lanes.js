// SPDX-License-Identifier: Apache-2.0
// Lanes: one column for each actor, time from top to bottom, what decides an order as arrows.

const LANE = {
  gutter: 52,
  head: 40,
  row: 48,
  spare: 26,
  dot: 20,
  narrow: 152,
  wide: 220,
  pad: 8
};
const STORES = new Set(["store", "update", "allocate", "free"]);
const LOADS = new Set(["load"]);

function momentOf(row) {
  const [actor, step, kind, op, touched, value, fn, file, line, side] = row;
  return {
    actor,
    step,
    kind,
    op: T(op),
    touched: T(touched),
    value: T(value),
    fn: T(fn),
    file: T(file),
    line,
    side
  };
}

/** The drawing of a history, as wide as asked; null where there is none. */
function lanes(finding, width) {
  const {actors, edges} = finding.history;
  const moments = finding.history.moments.map(momentOf);
  if (!moments.length) return null;
  const borders = laneEdges(actors, moments, width);
  const lane = (actor) => borders[actor + 1] - borders[actor];
  const pair = openPair(finding, moments);
  const tops = rowTops(moments, pair);
  const at = {
    x: (actor) => borders[actor] + LANE.dot,
    y: (index) => tops[index] + LANE.row / 2,
    below: (index) => tops[index] + LANE.row
  };
  const size = {width: borders[actors.length] + LANE.pad, height: tops[moments.length] + 10};
  const picture = svg(
    "svg",
    {width: size.width, height: size.height, role: "img", "aria-label": spoken(finding, moments)});
  picture.append(
    ...grid(actors, moments, at, size),
    ...edges.map((edge, number) => arrow(moments, edge, number, at)).filter(Boolean),
    ...(pair ? [svg("path", {class: "open", d: route(moments, pair, at, LANE.spare / 2, 0)})] : []),
    ...waits(finding, moments).map((wait, number) => svg("path", {
                                     class: "wait",
                                     d: route(moments, wait, at, number * 4 - 2, 13)
                                   })),
    ...moments.map((moment, index) => dot(moment, at.x(moment.actor), at.y(index))),
  );
  const labels = moments.map(
    (moment, index) => place(
      label(finding, moment), at.x(moment.actor) + 14, at.y(index) - 20,
      lane(moment.actor) - LANE.dot - 26));
  const heads = actors.map(
    (actor, index) =>
      place(el("div", {class: "who"}, T(actor)), at.x(index) - 7, 8, lane(index) - 10));
  return el("div", {class: "lanes"}, picture, heads, labels, pair && pill(moments, pair, at));
}

/** Where each lane begins, and where the last one ends; those of the sides are wider. */
function laneEdges(actors, moments, width) {
  const sides = new Set(moments.filter((moment) => moment.side).map((moment) => moment.actor));
  const weights = actors.map((_, actor) => (sides.has(actor) ? 1 : LANE.narrow / LANE.wide));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const unit = Math.max(LANE.wide, (width - LANE.gutter - LANE.pad) / all);
  const edges = [LANE.gutter];
  weights.forEach((weight, actor) => edges.push(edges[actor] + weight * unit));
  return edges;
}

/** Where each row begins and the last one ends; below the first of the pair is room for words. */
function rowTops(moments, pair) {
  const tops = [LANE.head];
  moments.forEach(
    (_, index) => tops.push(tops[index] + LANE.row + (pair && pair[0] === index ? LANE.spare : 0)));
  return tops;
}

function spoken(finding, moments) {
  const sides =
    moments.filter((moment) => moment.side)
      .map((m) => `${letterOf(m.side - 1)}: ${m.op} by ${T(finding.history.actors[m.actor])}`);
  return `What the actors did, in time; ${sides.join(", ")}`;
}

function grid(actors, moments, at, size) {
  const bottom = size.height - 8;
  const parts =
    [svg("rect", {class: "heads", x: 0, y: 0, width: size.width, height: LANE.head - 4})];
  parts.push(
    svg("line", {class: "rule", x1: 0, x2: size.width, y1: LANE.head - 4, y2: LANE.head - 4}));
  actors.forEach(
    (_, actor) => parts.push(svg(
      "line", {class: "lane", x1: at.x(actor), x2: at.x(actor), y1: LANE.head + 4, y2: bottom})));
  moments.forEach((moment, index) => {
    parts.push(svg(
      "text", {x: LANE.gutter - 12, y: at.y(index) + 4, "text-anchor": "end"},
      String(moment.step)));
    if (index && moment.step > moments[index - 1].step + 1) {
      const middle = at.y(index) - LANE.row / 2;
      actors.forEach(
        (_, actor) => parts.push(svg(
          "line",
          {class: "gap", x1: at.x(actor), x2: at.x(actor), y1: middle - 7, y2: middle + 7})));
    }
  });
  return parts;
}

function dot(moment, cx, cy) {
  const names =
    ["dot", moment.side ? sideClass(moment.side - 1) : "", STORES.has(moment.kind) ? "full" : ""]
      .filter(Boolean)
      .join(" ");
  if (STORES.has(moment.kind) || LOADS.has(moment.kind))
    return svg("circle", {class: names, cx, cy, r: moment.side ? 7 : 5.5});
  return svg("rect", {class: names, x: cx - 5, y: cy - 5, width: 10, height: 10, rx: 2});
}

/** Down from the one, across between two rows, where no words are, and down to the other. */
function route(moments, [before, after], at, across, beside) {
  const x1 = at.x(moments[before].actor), y1 = at.y(before);
  const x2 = at.x(moments[after].actor) - beside, y2 = at.y(after) - (beside ? 0 : 8);
  const level = at.below(before) + across, turn = x2 > x1 ? 8 : -8;
  const end = beside ? `V ${y2 - 6} Q ${x2} ${y2} ${x2 + 5} ${y2}` : `V ${y2}`;
  return `M ${x1} ${y1 + 8} V ${level - 8} Q ${x1} ${level} ${x1 + turn} ${level} H ${
    x2 - turn} Q ${x2} ${level} ${x2} ${level + 8} ${end}`;
}

function arrow(moments, [before, after, chance], number, at) {
  if (moments[before].actor === moments[after].actor) return null;
  const beside = 13 + (number % 3) * 3;
  const x = at.x(moments[after].actor) - 7, y = at.y(after);
  return svg(
    "g", {}, svg("path", {
      class: chance ? "edge chance" : "edge",
      d: route(moments, [before, after], at, (number % 2) * 3 - 1, beside)
    }),
    svg("path", {class: "tip", d: `M ${x} ${y} l -7 -4 l 0 8 z`}));
}

/** The two moments that race, where there are two in two lanes. */
function openPair(finding, moments) {
  const sides = moments.flatMap((moment, index) => (moment.side ? [index] : []));
  const two = sides.length === 2 && moments[sides[0]].actor !== moments[sides[1]].actor;
  return two && isOpen(finding) ? sides : null;
}

/** A misuse of memory may be ordered: then its sentences do not say that it is not. */
const isOpen = (finding) => /race|load-store/.test(finding.kind) ||
  (finding.kind === "memory-error" &&
   finding.explanation.some((number) => T(number).startsWith("Nothing orders the two")));

/** In a ring of locks: who has one, and who wants it, in the order that they came. */
function waits(finding, moments) {
  if (finding.kind !== "deadlock") return [];
  const byLock = new Map();
  moments.forEach((moment, index) => {
    if (moment.side && moment.touched)
      byLock.set(moment.touched, [...(byLock.get(moment.touched) || []), index]);
  });
  return [...byLock.values()].filter(
    (two) => two.length === 2 && moments[two[0]].actor !== moments[two[1]].actor);
}

function pill(moments, [one, other], at) {
  const middle = (at.x(moments[one].actor) + at.x(moments[other].actor)) / 2;
  const element = place(
    el("div", {class: "pill"}, "nothing decides this order"), middle,
    at.below(one) + LANE.spare / 2 - 10);
  element.style.transform = "translateX(-50%)";
  return element;
}

function label(finding, moment) {
  const names = moment.side ? `moment ${sideClass(moment.side - 1)}` : "moment";
  const named = moment.fn === moment.op ? "" : moment.fn;
  const where = moment.file ? `${baseName(moment.file)}:${moment.line}` : named;
  const text = sourceLine(finding, moment.file, moment.line);
  const value = moment.value ? ` ${STORES.has(moment.kind) ? "←" : "="} ${moment.value}` : "";
  return el(
    "div", {
      class: names,
      title:
        [`${moment.op} ${moment.touched}${value}`, moment.fn, `${moment.file}:${moment.line}`, text]
          .filter(Boolean)
          .join("\n")
    },
    el(
      "div", {class: "does"}, moment.side ? letter(moment.side - 1) : null,
      el("b", {}, short(moment.op)), " ", bareName(moment.touched),
      value ? el("b", {}, value) : null),
    el("div", {class: "at"}, el("span", {}, where), el("span", {}, text.trim())));
}

const short = (op) => op.replace(/ of size (\d+)/, "");
/** Of a path its end says most. */
const ending = (name) => name.replace(/^\/.*\/(?=[^/]+\/?$)/, "…/");
const bareName = (touched) => ending((/'([^']+)'/.exec(touched) || [null, touched])[1]);

function legend(finding) {
  const moments = finding.history.moments.map(momentOf);
  const open = openPair(finding, moments), waiting = waits(finding, moments).length > 0;
  const sample = (...parts) => svg("svg", {viewBox: "0 0 26 12"}, ...parts);
  const arrow = (name) => sample(
    svg("path", {class: name, d: "M 1 6 H 18"}),
    svg("path", {class: "tip", d: "M 18 2 l 7 4 l -7 4 z"}));
  return el(
    "div", {class: "legend"},
    open &&
      el(
        "span", {}, sample(svg("path", {class: "open", d: "M 1 6 H 25"})),
        "nothing decides this order"),
    waiting &&
      el(
        "span", {}, sample(svg("path", {class: "wait", d: "M 1 6 H 25"})),
        "one has the lock, the other wants it"),
    el("span", {}, arrow("edge"), "always comes before"),
    el("span", {}, arrow("edge chance"), "came before in this run"),
    el("span", {}, sample(svg("circle", {class: "dot full", cx: 13, cy: 6, r: 4.5})), "write"),
    el("span", {}, sample(svg("circle", {class: "dot", cx: 13, cy: 6, r: 4.5})), "read"),
    el(
      "span", {}, sample(svg("rect", {class: "dot", x: 8, y: 2, width: 9, height: 9, rx: 2})),
      "synchronisation"));
}
