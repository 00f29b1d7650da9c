// SPDX-License-Identifier: Apache-2.0
// One finding in full: what it is, what happened, why it is one, both sides.

function findingView(finding, width) {
  const drawn = lanes(finding, width);
  return el(
    "div", {class: "one"}, heading(finding),
    drawn && [el("h3", {}, "What happened"), drawn, legend(finding)],
    finding.orders.length > 0 && [el("h3", {}, "Both orders"), bothOrders(finding)],
    finding.explanation.length > 0 && [el("h3", {}, "Proof"), proof(finding)],
    finding.sides.length > 0 &&
      [
        el("h3", {}, finding.sides.length > 1 ? "The operations" : "The operation"),
        el("div", {class: "sides"}, finding.sides.map((side, index) => card(finding, side, index)))
      ],
    finding.locks.length > 0 &&
      [
        el("h3", {}, "Locks"),
        el("div", {class: "sides"}, finding.locks.map((lock) => lockCard(finding, lock)))
      ],
    [el("h3", {}, "Record"), record(finding)]);
}

function heading(finding) {
  const replay = T(finding.replay);
  const ways = finding.tried === 1 ? "1 way" : `${finding.tried} ways`;
  const k = finding.tried ? `; tried ${ways}` : "";
  return el(
    "header", {},
    el(
      "h2", {}, T(finding.title),
      finding.about ? [" on ", el("code", {}, T(finding.about))] : null),
    el(
      "p", {class: "meta"}, klassChip(finding.class),
      finding.new ? el("span", {class: "fresh"}, "new") : el("span", {}, "in the baseline"),
      el("code", {}, finding.id),
      el(
        "button", {
          type: "button",
          class: "small",
          onclick: () => mark(),
          title: "Mark, to be suppressed (m)"
        },
        "Mark"),
      el("span", {}, finding.kind), el("span", {}, `${DATA.meanings[finding.class]}${k}`)),
    finding.consequence ? el("p", {class: "meaning"}, el("b", {}, T(finding.consequence))) : null,
    finding.reason ? el("p", {class: "meaning"}, T(finding.reason)) : null,
    replay
      ? el(
          "div", {class: "run"}, el("code", {}, replay),
          el("button", {type: "button", onclick: () => copy(replay), title: "Copy (c)"}, "Copy"))
      : null);
}

/** What each order does, side by side. Of the output are marked the lines that only one of them
 * has; where both have the same lines, those that are not in the same place. */
function bothOrders(finding) {
  const outputs = finding.orders.map(([, , output]) => T(output).split("\n"));
  const sorted = outputs.map((lines) => [...lines].sort().join("\n"));
  const others = (index) => outputs.filter((_, n) => n !== index);
  const isOwn = (index, line, at) => new Set(sorted).size === 1
    ? others(index).some((other) => other[at] !== line)
    : others(index).every((other) => !other.includes(line));
  return el("div", {class: "sides"}, finding.orders.map(([order, does, output, replay], index) => {
    return el(
      "section", {class: `card order${index ? "" : " worse"}`},
      el("header", {}, el("h4", {}, T(does)), el("p", {}, T(order))),
      T(output)
        ? el(
            "pre", {class: "code"},
            outputs[index].map(
              (line, at) => el(
                "div", {class: isOwn(index, line, at) ? "hit" : ""}, el("span", {}, line || " "))))
        : el("p", {class: "quiet"}, "It writes nothing."),
      T(replay) ? el(
                    "div", {class: "run"}, el("code", {}, T(replay)),
                    el("button", {type: "button", onclick: () => copy(T(replay))}, "Copy"))
                : null);
  }));
}

function proof(finding) {
  return el(
    "ol", {class: "proof"},
    finding.explanation.map(
      (number) =>
        el("li", {class: T(number).startsWith("So ") ? "so" : ""}, lettered(finding, T(number)))));
}

/** The sentence with its letters as marks; a word is one only if there is such a side. */
function lettered(finding, sentence) {
  const known = new Map(finding.sides.map((_, index) => [letterOf(index), index]));
  return sentence.split(/\b([A-Z])\b/)
    .map(
      (part, index) =>
        index % 2 && known.has(part) && !(part === "A" && index === 1 && sentence.startsWith("A "))
        ? letter(known.get(part))
        : part);
}

function card(finding, side, index) {
  const fact = (name, value) => (value ? [el("dt", {}, name), el("dd", {}, value)] : []);
  const locks = side.locks.length ? side.locks.map(T).join(", ") : finding.knowsLocks && "none";
  return el(
    "section", {class: `card ${sideClass(index)}`},
    el(
      "header", {}, el("h4", {}, letter(index), T(side.op)),
      el(
        "dl", {class: "facts"}, fact("by", T(side.actor)),
        fact("on", [T(side.part), T(side.touched)].filter(Boolean).join(" of ")),
        fact("value", T(side.value)), fact("locks held", locks))),
    frames(finding, side.stack, true),
    more(
      finding, `${T(side.actor)} was created${side.createdBy ? ` by ${T(side.createdBy)}` : ""}`,
      side.created),
    more(
      finding,
      `${T(side.touched)} was allocated${side.allocatedBy ? ` by ${T(side.allocatedBy)}` : ""}`,
      side.allocated));
}

function lockCard(finding, [name, made]) {
  return el(
    "section", {class: "card"}, el("header", {}, el("h4", {}, T(name), " was made here")),
    frames(finding, made, false));
}

function more(finding, title, stack) {
  if (!stack) return null;
  return el("details", {class: "more"}, el("summary", {}, title), frames(finding, stack, false));
}

/** A stack; the first frame with source lines shows them, frames of libraries are folded. */
function frames(finding, number, open) {
  const stack = DATA.stacks[number].map((id, depth) => ({...frameOf(id), depth}));
  if (!stack.length) return el("p", {class: "frame"}, "the stack is not known");
  const shown = stack.find((frame) => codeAround(finding, frame));
  const items = runs(stack).map(
    (run) => run.length > 1 && run[0].library
      ? el(
          "li", {class: "library"},
          el(
            "details", {}, el("summary", {class: "frame"}, frameCount(run)),
            el("ol", {class: "frames"}, run.map((frame) => frameItem(finding, frame, false)))))
      : run.map((frame) => frameItem(finding, frame, open && frame === shown)));
  return el("ol", {class: "frames"}, items);
}

/** Frames one after the other that are all of libraries, or all of the program. */
function runs(stack) {
  const found = [];
  for (const frame of stack) {
    const last = found[found.length - 1];
    if (last && last[0].library === frame.library)
      last.push(frame);
    else
      found.push([frame]);
  }
  return found;
}

function frameCount(run) {
  return [
    el("span", {class: "n"}, run[0].depth),
    el("span", {class: "fn"}, `${run.length} frames of libraries`)
  ];
}

function frameItem(finding, frame, open) {
  const lines = codeAround(finding, frame), row = frameRow(frame, frame.depth);
  if (!lines)
    return el(
      "li", {class: frame.library ? "library" : ""}, el("div", {class: "frame plain"}, row));
  return el(
    "li", {},
    el("details", {open: open ? "" : undefined}, el("summary", {class: "frame"}, row), lines));
}

function frameRow(frame, depth) {
  const where = frame.file ? location_(frame.file, frame.line, frame.column)
                           : el("span", {title: frame.module}, baseName(frame.module));
  return [
    el("span", {class: "n"}, depth),
    el("span", {class: "fn"}, frame.fn || "?", frame.inlined ? el("small", {}, " inlined") : null),
    el("span", {class: "loc"}, where)
  ];
}

// --- source lines

function excerptsOf(finding, file) {
  return finding.code.map((number) => DATA.excerpts[number]).filter(([name]) => T(name) === file);
}

function sourceLine(finding, file, line) {
  for (const [, first, lines] of excerptsOf(finding, file)) {
    if (line >= first && line < first + lines.length) return T(lines[line - first]);
  }
  return "";
}

function codeAround(finding, frame) {
  const found =
    excerptsOf(finding, frame.file)
      .find(([, first, lines]) => frame.line >= first && frame.line < first + lines.length);
  if (!found) return null;
  const [, first, lines] = found;
  const from = Math.max(0, frame.line - first - 4),
        to = Math.min(lines.length, frame.line - first + 5);
  return el("pre", {class: "code"}, lines.slice(from, to).map((text, index) => {
    const number = first + from + index;
    return el(
      "div", {class: number === frame.line ? "hit" : ""}, el("i", {}, number),
      el("span", {}, T(text) || " "));
  }));
}

function record(finding) {
  const [first, last, count] = finding.seen;
  const fact = (name, value) => (value ? [el("dt", {}, name), el("dd", {}, value)] : []);
  const sources =
    finding.sources.map(([tool, file]) => (file ? `${T(tool)} (${T(file)})` : T(tool))).join(", ");
  const times = first && last && first !== last ? `${first} to ${last}` : last || first;
  return el(
    "dl", {class: "facts wide"},
    fact("seen", `${count} ${count === 1 ? "time" : "times"}${times ? `, ${times}` : ""}`),
    fact("by", sources), fact("evidence", T(finding.evidence)),
    fact("isolation", T(finding.isolation)));
}
