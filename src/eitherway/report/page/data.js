// SPDX-License-Identifier: Apache-2.0
"use strict";
// What was found, and how elements are made of it. All of it is somebody else's text: it becomes
// text nodes and attributes, never markup.

const DATA = JSON.parse(document.getElementById("data").textContent);
const FINDINGS = DATA.findings;
const T = (number) => DATA.texts[number];

const byId = (id) => document.getElementById(id);

/** An element with these attributes and children; text stays text. */
function el(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on"))
      element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter((child) => child || child === 0));
  return element;
}

function place(element, left, top, width) {
  // Through the object model: the policy of the page permits no style attributes.
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
  if (width) element.style.width = `${width}px`;
  return element;
}

function frameOf(number) {
  const [fn, file, line, column, module, inlined, library] = DATA.frames[number];
  return {
    fn: T(fn),
    file: T(file),
    line,
    column,
    module: T(module),
    inlined: !!inlined,
    library: !!library
  };
}

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);
const letterOf = (index) => (index < 26 ? String.fromCharCode(65 + index) : `#${index + 1}`);
const sideClass = (index) => `side${Math.min(index + 1, 3)}`;

function letter(index) {
  return el("span", {class: `letter ${sideClass(index)}`}, letterOf(index));
}

function klassChip(name) {
  return el("span", {class: `klass ${name}`, title: DATA.meanings[name]}, name);
}

// --- editors

const EDITORS = {
  vscode: (path, line, column) => `vscode://file${path}:${line}:${column || 1}`,
  vscodium: (path, line, column) => `vscodium://file${path}:${line}:${column || 1}`,
  cursor: (path, line, column) => `cursor://file${path}:${line}:${column || 1}`,
  zed: (path, line, column) => `zed://file${path}:${line}:${column || 1}`,
  idea: (path, line, column) => `idea://open?file=${path}&line=${line}&column=${column || 1}`,
  emacs: (path, line, column) =>
    `org-protocol://open-file?url=${path}&line=${line}&column=${column || 1}`,
};

/** file:line, as a link where the file is named in full and an editor is chosen. */
function location_(file, line, column) {
  const words = line ? `${baseName(file)}:${line}` : baseName(file);
  const title = line ? `${file}:${line}` : file;
  const make = EDITORS[byId("editor").value];
  if (!make || !file.startsWith("/")) return el("span", {title}, words);
  const path = file.split("/").map(encodeURIComponent).join("/");
  return el("a", {href: make(path, line || 1, column), title}, words);
}

// --- a word to the user

let saidTimer;
function say(words) {
  const said = byId("said");
  said.textContent = words;
  said.classList.add("on");
  clearTimeout(saidTimer);
  saidTimer = setTimeout(() => said.classList.remove("on"), 1600);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from files may not have the clipboard: the old way needs a selection.
    const area = el("textarea", {class: "skip"});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say("Copied");
}
