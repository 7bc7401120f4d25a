// A handout: the explorers on a page of their own, without a kernel. Every frame that a reader can ask for lies in the
// page; a stand-in for the widget's model looks it up. hatch_build.py puts the explorers in front of this file.

/** Read a block of the page: gzip in base64. */
async function unpacked(block) {
  const bytes = Uint8Array.from(atob(block.textContent), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** All frames, put together from lines when they are asked for. */
class Book {
  constructor(text) {
    const lines = text.split("\n");
    Object.assign(this, JSON.parse(lines[0])); // axes, parts, roles, frames, view, specs
    let at = 1;
    const take = (count) => lines.slice(at, at += count);
    this.parts = this.parts.map(([path, count]) => [path, take(count)]);
    this.roles = this.roles.map(take);
    let before = this.parts.map(() => -1);
    this.frames = this.frames.map((steps) => { before = steps.map((step, i) => before[i] + step); return before; });
  }

  /** Position of a frame; undefined where a setting is none of those laid out. */
  at(settings) {
    let at = 0;
    for (const { name, values } of this.axes) {
      const wanted = JSON.stringify(settings[name]);
      const found = values.findIndex((value) => JSON.stringify(value) === wanted);
      if (found < 0) return undefined;
      at = at * values.length + found;
    }
    return at;
  }

  frame(at, layouts) {
    const frame = {};
    this.frames[at].forEach((number, i) => {
      if (number < 0) return;
      const [[name, inner, column], lines] = this.parts[i];
      const part = JSON.parse(lines[number]);
      if (name === "rows") frame.rows = this.rows(part, layouts);
      else if (inner === undefined) frame[name] = part;
      else if (column === undefined) (frame[name] ??= {})[inner] = part;
      else { // a table, by columns; null: a row has no such entry
        const rows = ((frame[name] ??= {})[inner] ??= part.map(() => ({})));
        part.forEach((value, k) => { if (value !== null) rows[k][column] = value; });
      }
    });
    return frame;
  }

  /** One row of a picture, as JSON; a cloud is written as steps on a grid. */
  row(line) {
    if (!line.includes('"grain":')) return line;
    const row = JSON.parse(line);
    if (!row.xs) return line; // a name that looks like it
    let x = 0;
    row.xs = row.xs.map((step) => (x += step) * row.grain);
    row.ys = row.ys.map((y) => y * row.grain);
    return JSON.stringify(row);
  }

  /** Rows for every layout asked for: those made for the widest panel that is no wider, counted in letters. */
  rows(stored, layouts) {
    const text = (named) => {
      const at = this.roles.map(() => -1);
      const lines = Array.from(named.matchAll(/([a-zA-Z])(-?\d*)/g), ([, letter, step]) => {
        const role = LETTERS.indexOf(letter);
        at[role] += step === "" ? 1 : Number(step);
        return this.row(this.roles[role][at[role]]);
      });
      return `[${lines.join(",")}]`;
    };
    if ("" in stored) return { "": text(stored[""]) };
    const room = (layout) => { const [side, font] = layout.split("|").map(Number); return side / font; };
    const offered = Object.keys(stored).sort((a, b) => room(a) - room(b));
    return Object.fromEntries(layouts.map((asked) => {
      const fit = offered.filter((layout) => room(layout) <= room(asked) + 1e-9).at(-1) ?? offered[0];
      return [asked, text(stored[fit])];
    }));
  }
}

/** What an explorer takes for its model in a kernel. */
class StoredModel {
  constructor(book) {
    this.book = book;
    this.heard = new Map();
    this.state = { _view: book.view, _specs: book.specs, _layouts: [] };
    for (const { name, values, start } of book.axes) this.state[name] = values[start];
    this.state._frame = book.frame(book.at(this.state), []);
    this.state = { ...this.state._frame.controls.settings, ...this.state };
  }

  get(name) { return this.state[name]; }

  set(name, value) { this.state[name] = value; }

  on(event, listener) { this.heard.set(event, [...(this.heard.get(event) ?? []), listener]); }

  off(event, listener) { this.heard.set(event, (this.heard.get(event) ?? []).filter((each) => each !== listener)); }

  send() {} // there is nobody to ask

  save_changes() {
    const at = this.book.at(this.state);
    const wanted = JSON.stringify([at, this.state._layouts]);
    if (at === undefined || wanted === this.answered) return;
    this.answered = wanted;
    this.state._frame = this.book.frame(at, this.state._layouts);
    for (const listener of this.heard.get("change:_frame") ?? []) listener();
  }
}

/** An explorer whose controls offer what lies in the page, and nothing else. */
const handedOut = (View) => class extends View {
  get axes() { return Object.fromEntries(this.model.book.axes.map(({ name, values }) => [name, values])); }

  /** One control for the pair: which of the two stands across is settled. */
  makePair() {
    super.makePair();
    this.pairs = select("Pair of components", (value) => this.send({ components: value.split(",").map(Number) }));
    this.pairField = element("div", { class: "field" }, element("span", { class: "caption" }, "Components"), this.pairs.element);
    return this.pairField;
  }

  updatePair(components) {
    const name = ([a, b]) => (this.frame.file === "contributions" ? `PC${a}` : `PC${a} × PC${b}`);
    this.pairs.set(this.axes.components.map((pair) => [pair.join(), name(pair)]), components.join());
  }

  updateControls(state) {
    super.updateControls(state);
    this.numberField.hidden = this.labelsField.hidden = true;
    this.keep(this.reference, "show_reference");
  }

  /** Leave a select its options that lie in the page, and hide it if it has no choice. */
  keep(control, name) {
    const offered = this.axes[name] ?? [];
    for (const option of control.element.options) option.hidden = option.disabled = !offered.includes(option.value);
    if (offered.length < 2) control.element.closest(".field").hidden = true;
  }
};

/** Say where a slider stands: the answer came before its own word for the step. */
const speak = (slider, text) => slider.element.querySelector("input").setAttribute("aria-valuetext", text);

class HandoutLoadingView extends handedOut(LoadingView) {
  /** The slider: of the budget, or, after a release, of the noise that is put on top of it. */
  budgetControls() {
    const made = super.budgetControls();
    made.querySelector(".row").hidden = true; // δ, calibration and new draws need a kernel
    return made;
  }

  get lower() { return this.axes.noise_shown ?? []; }

  slide(step, held) {
    if (!this.lower.length) {
      super.slide(step, held);
      speak(this.slider, `epsilon ${step.text}`);
      return;
    }
    this.dragging = held;
    this.big.textContent = step.big;
    this.send({ noise_shown: step.shown });
  }

  updateControls(state) {
    super.updateControls(state);
    this.keep(this.uncertainty, "uncertainty");
    this.noiseField.hidden = true;
    if (this.lower.length < 2 || this.dragging) return;
    const released = state.released;
    const steps = this.lower.map((shown) => (shown === null
      ? { shown, value: released.value, text: "as released", big: `ε = ${released.text}` }
      : { shown, value: shown, text: `as for epsilon ${shown}`, big: `ε = ${state.steps.find(({ value }) => value === shown).text}` }));
    if (!this.stepped) this.slider.element.querySelector(".ticks").replaceChildren(); // those of all budgets
    this.stepped = true;
    const at = steps.find(({ shown }) => shown === state.noise_shown);
    this.slider.set(steps, at.value, at.text);
    this.big.textContent = at.big;
  }

  update() {
    super.update();
    const strip = this.strip("Budget");
    if (this.lower.length > 1) {
      strip.hidden = false;
      strip.querySelector("h4").textContent = "Noise";
      strip.querySelector("h4").dataset.cost = "free";
    }
  }
}

class HandoutGiniView extends handedOut(GiniView) {
  slide(name, value, held) {
    super.slide(name, value, held);
    speak(this[name], `${name} ${value}`);
  }

  updateControls(state) {
    super.updateControls(state);
    for (const input of this.kind.element.querySelectorAll("input")) input.parentElement.hidden = !this.axes.kind.includes(input.value);
  }

  update() {
    super.update();
    this.strip("Outlier").hidden = true;
  }
}

/** Put an explorer in every place of the page that has its frames. */
async function open() {
  const views = { loading: HandoutLoadingView, gini: HandoutGiniView };
  for (const place of document.querySelectorAll("[data-book]")) {
    const model = new StoredModel(new Book(await unpacked(document.getElementById(place.dataset.book))));
    const root = element("div");
    place.replaceChildren(root);
    root.explorer = new views[model.get("_view")](model, root);
    root.classList.add("handed");
  }
  document.documentElement.classList.add("live");
}

open().catch((error) => {
  console.error("dppca_nb: the page cannot show its explorer", error);
  document.documentElement.classList.add("failed");
});

export default {};
