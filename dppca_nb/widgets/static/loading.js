// The loading explorer: Budget and View strips, chart, linked table, status, guarantee.
// The kernel sends one frame per change (rows, signals, words, state of the controls); this file only lays it out.

const digits = (value, places = 2) => {
  const text = value.toFixed(places);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
};

class Explorer {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.id = `dx${Math.random().toString(36).slice(2)}`; // radio groups of any two views on a page must not mix
    this.font = fontFactor();
    this.sort = { by: "length", down: true };
    this.lit = null;
    this.pinned = null;
    this.layout = null;
    root.classList.add("dppca");
    root.addEventListener("keydown", (event) => { // or Jupyter's one-key commands would take the arrow keys
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    this.build();
    this.onFrame = () => this.update();
    this.onTheme = () => { this.colours = undefined; this.redraw(); };
    model.on("change:_frame", this.onFrame);
    this.stopTheme = watchTheme(this.onTheme);
    this.sizes = new ResizeObserver(() => this.redraw());
    this.sizes.observe(root);
    this.update();
  }

  close() {
    this.chart.close();
    this.sizes.disconnect();
    this.stopTheme();
    clearTimeout(this.speaking);
    this.model.off("change:_frame", this.onFrame);
    this.ask(null);
  }

  get frame() { return this.model.get("_frame"); }

  // ----- settings -----

  /** Change settings in the kernel, all in one message. */
  send(settings) {
    for (const [name, value] of Object.entries(settings)) this.model.set(name, value);
    this.model.save_changes();
  }

  /** Tell the kernel which panel size this view needs rows for, and that it needs its old size no longer. */
  ask(layout) {
    const others = this.model.get("_layouts").filter((other) => other !== this.layout && other !== layout);
    this.layout = layout;
    this.send({ _layouts: layout ? [...others, layout] : others });
  }

  // ----- elements, built once -----

  build() {
    this.heading = element("h3");
    this.badge = element("span", { class: "badge" }, "Teaching");
    this.voidBadge = element("span", { class: "badge bad" }, "Guarantee void");
    this.export = element("div", { class: "export", role: "group", "aria-label": "Export" },
      actionButton("SVG", "Save picture as SVG", "Saved", () => this.savePicture("svg")),
      actionButton("PNG", "Save picture as PNG", "Saved", () => this.savePicture("png")),
      actionButton("CSV", "Save loadings as CSV", "Saved", () => this.saveTable()),
      actionButton("Copy code", "Copy one call that redraws this view", "Copied", () => copy(this.frame.code)));
    this.banner = element("p", { class: "banner" });
    this.stage = element("div", { class: "chart", role: "img" });
    this.chart = new LiveChart(this.stage, { about: (v) => this.frame.table.rows.find((row) => row.variable === v)?.about, onPoint: (v) => this.light(v ?? this.pinned), onPick: (v) => this.pin(v) });
    this.table = element("div", { class: "table" });
    this.empty = element("div", { class: "empty", hidden: true });
    this.main = element("div", { class: "main" }, this.stage, this.table);
    this.status = element("p", { class: "status" });
    this.notes = element("div", { class: "notes" });
    this.guarantee = element("div", { class: "guarantee" });
    this.spoken = element("p", { class: "spoken", role: "status", "aria-live": "polite" });
    this.budget = element("section", { class: "strip", "aria-label": "Budget" }, element("h4", {}, "Budget"), this.budgetControls());
    this.viewStrip = element("section", { class: "strip", "aria-label": "View" }, element("h4", {}, "View"), this.viewControls());
    this.footer = element("footer", {}, this.status, this.notes, this.guarantee);
    this.root.replaceChildren(
      element("header", {}, this.heading, this.badge, this.voidBadge, this.export),
      this.banner, this.budget, this.viewStrip, this.main, this.empty, this.footer, this.spoken);
  }

  budgetControls() {
    this.big = element("span", { class: "big" });
    this.small = element("span", { class: "small", title: "The ε that this noise really gives at the stated δ, and σ, the standard deviation of the noise" });
    this.slider = element("input", { type: "range", min: 0, step: 1, "aria-label": "Privacy budget epsilon, logarithmic",
      oninput: () => this.slide(false), onchange: () => this.slide(true) });
    this.ticks = element("div", { class: "ticks", "aria-hidden": "true" });
    this.delta = select("Delta", (value) => this.send({ delta: Number(value) }));
    this.calibration = choice(`${this.id}-calibration`, "Calibration of the noise",
      [["classical", "classical"], ["analytic", "analytic"]], (value) => this.send({ calibration: value }));
    this.draw = element("button", { type: "button", class: "button", onclick: () => this.send({ draw: this.model.get("draw") + 1 }) }, "New noise draw");
    return element("div", { class: "budget" },
      element("div", { class: "epsilon" },
        element("output", { class: "readout", "aria-live": "off" }, this.big, this.small),
        element("div", {}, this.slider, this.ticks,
          element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, "more private"), element("span", {}, "more accurate")))),
      element("div", { class: "row" }, captioned("δ", "Chance with which the promise of ε may fail; keep it far below 1/n", this.delta.element),
        captioned("Noise", "classical: the textbook formula, proved for ε below 1; analytic: the least noise that keeps ε and δ", this.calibration.element), this.draw));
  }

  viewControls() {
    this.kind = choice(`${this.id}-kind`, "Plot type", [["vector", "Vectors"], ["point", "Points"], ["heatmap", "Heatmap"]],
      (value) => this.send({ kind: value }));
    this.across = select("Component across", (value) => this.pair(0, Number(value)));
    this.up = select("Component up", (value) => this.pair(1, Number(value)));
    this.pairField = element("div", { class: "field" }, this.across.element, element("span", { class: "caption" }, "by"), this.up.element);
    this.number = element("input", { type: "number", min: 1, onchange: () => this.count() });
    this.of = element("span", { class: "caption" });
    this.labels = element("input", { type: "checkbox", onchange: () => this.send({ labels: this.labels.checked }) });
    this.labelsName = element("span");
    this.reference = select("Non-private reference", (value) => this.send({ show_reference: value }));
    return element("div", { class: "row" }, this.kind.element,
      this.pairField,
      captioned("Variables", "How many variables to draw, the longest first", this.number, this.of),
      element("label", { class: "check" }, this.labels, this.labelsName),
      captioned("Reference", "Ordinary principal components of the same table: another method, and not private", this.reference.element));
  }

  // ----- what the controls do -----

  slide(released) {
    const step = this.frame.controls.steps[Number(this.slider.value)];
    this.dragging = !released;
    this.readEpsilon(Number(this.slider.value), step.text);
    if (released || !this.frame.slow) this.send({ epsilon: step.value, _dragging: !released });
  }

  readEpsilon(position, text) {
    const last = this.frame.controls.steps.length - 1;
    this.slider.style.setProperty("--at", Math.max(0, Math.min(1, position / last)));
    this.slider.setAttribute("aria-valuetext", `epsilon ${text}`);
    this.big.textContent = `ε = ${text}`;
  }

  /** Choose a component; choosing the other one's value swaps the two. */
  pair(which, value) {
    const pair = [...this.model.get("components")];
    if (pair[1 - which] === value) pair[1 - which] = pair[which];
    pair[which] = value;
    this.send({ components: pair });
  }

  count() {
    const { p } = this.frame.controls;
    const wanted = Math.round(Number(this.number.value));
    const value = Math.max(1, Math.min(p, 300, Number.isFinite(wanted) && wanted ? wanted : p));
    this.number.value = value;
    this.send({ variables: value });
  }

  // ----- a new frame -----

  update() {
    const { frame } = this;
    this.heading.textContent = frame.title ?? "";
    const blank = Boolean(frame.empty);
    for (const part of [this.badge, this.export, this.banner, this.budget, this.viewStrip, this.main, this.footer]) part.hidden = blank;
    this.empty.hidden = !blank;
    this.voidBadge.hidden = !frame.void;
    if (blank) {
      this.empty.replaceChildren(element("b", {}, "No loadings to draw yet"), ...frame.empty.map((text) => element("p", {}, ...rich(text))));
      return;
    }
    if (!frame.controls) return;
    this.banner.replaceChildren(...rich(frame.banner));
    this.small.textContent = frame.readout;
    if (this.isCurrent(frame.controls)) this.updateControls(frame.controls);
    this.updateWords(frame);
    this.redraw();
  }

  /** Whether a frame answers what was last asked for; an older one must not move the controls back. */
  isCurrent(state) {
    const asked = (name) => JSON.stringify(this.model.get(name));
    return asked("epsilon") === JSON.stringify(state.epsilon.value)
      && ["delta", "calibration", "kind", "components", "labels", "draw"].every((name) => asked(name) === JSON.stringify(state[name]));
  }

  updateControls(state) {
    const last = state.steps.length - 1;
    if (!this.dragging) {
      const distance = (step) => Math.abs(Math.log(step.value / state.epsilon.value));
      const nearest = state.steps.reduce((best, step, i) => (distance(step) < distance(state.steps[best]) ? i : best), 0);
      this.slider.max = last;
      this.slider.value = nearest;
      this.readEpsilon(nearest, state.epsilon.text);
    }
    if (!this.ticks.childElementCount) {
      const named = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
      this.ticks.append(...state.steps.map((step, i) => [step, i]).filter(([step]) => named.includes(step.value))
        .map(([step, i]) => element("span", { style: `--at:${i / last}` }, String(step.value))));
    }
    this.delta.set(state.deltas.map(({ value, text }) => [value, text]), state.delta);
    this.calibration.set(state.calibration);
    this.draw.title = `Noise draw ${state.draw}`;
    this.kind.set(state.kind);
    this.pairField.hidden = state.kind === "heatmap"; // which shows more than a pair
    const components = Array.from({ length: Math.min(state.p, 50) }, (_, i) => [i + 1, `PC${i + 1}`]);
    for (const c of state.components) if (c > components.length) components.push([c, `PC${c}`]);
    this.across.set(components, state.components[0]);
    this.up.set(components, state.components[1]);
    if (document.activeElement !== this.number) this.number.value = state.shown;
    this.number.max = Math.min(state.p, 300);
    this.number.setAttribute("aria-label", `Number of variables, longest first, at most ${this.number.max}`);
    this.of.textContent = `of ${state.p.toLocaleString("en-US")}`;
    this.labels.checked = state.labels;
    this.labelsName.textContent = state.kind === "heatmap" ? "Values" : "Labels";
    const places = [["off", "off"], ["beside", "beside"]];
    if (state.kind !== "heatmap") places.push(["underneath", "underneath"]);
    this.reference.set(places, state.reference);
  }

  updateWords(frame) {
    const failed = Boolean(frame.error);
    const mark = failed || frame.beware ? element("span", { class: "mark", "aria-hidden": "true" }, "!") : element("span", { class: "mark ok", "aria-hidden": "true" });
    const said = failed ? `**Not redrawn.** ${frame.error} The last picture is kept.` : frame.status;
    this.status.classList.toggle("bad", failed);
    this.status.replaceChildren(mark, element("span", {}, ...rich(said)));
    this.notes.replaceChildren(...frame.notes.map((text) => element("p", {}, element("span", { class: "side" }, "Note"), element("span", {}, ...rich(text)))));
    const { guarantee } = frame;
    this.guarantee.classList.toggle("void", guarantee.void);
    this.guarantee.replaceChildren(element("span", { class: "side" }, "Guarantee"),
      element("div", {}, ...rich(guarantee.text),
        guarantee.reasons.length ? element("ol", {}, guarantee.reasons.map((reason) => element("li", {}, ...rich(reason)))) : null));
    this.stage.classList.toggle("stale", failed);
    this.table.classList.toggle("stale", failed);
    this.stage.setAttribute("aria-label", frame.description);
    clearTimeout(this.speaking); // spoken once the hand is still, not at every step of a drag
    this.speaking = setTimeout(() => { this.spoken.textContent = `${said.replaceAll(/[*`\ue000\ue001]/g, "")} ${failed ? "" : frame.description}`; }, 700);
  }

  // ----- layout -----

  /** Draw the frame at the size there is; `render` runs before the element has any. */
  redraw() {
    const { frame } = this;
    const width = this.root.clientWidth;
    if (!frame.rows || !width) return;
    this.colours ??= readTheme(this.root); // not before: styles cannot be read off the page
    const wide = width >= 860;
    const widest = Math.max(...frame.table.rows.map((row) => row.text.length));
    this.rail = widest > 12 ? 372 : 316;
    const available = wide ? width - this.rail - 8 : width;
    const columns = frame.panels === 2 && available >= 520 ? 2 : 1;
    const heat = frame.spec === "heatmap";
    const sizes = heat ? this.heatSize(frame, available, columns) : this.planeSize(available, columns, wide);
    const beside = columns * sizes.width + (columns - 1) * (heat ? 26 : 48) + (heat ? sizes.label + 12 : 84);
    this.room = wide ? width - beside - 8 : width;
    this.main.style.gridTemplateColumns = wide ? `${beside}px minmax(0, 1fr)` : "";
    this.drawTable();
    const layout = heat ? "" : `${sizes.width}|${this.font.toFixed(2)}`;
    if (!heat && layout !== this.layout) { this.ask(layout); }
    if (!(layout in frame.rows)) { if (!this.model.get("_layouts").includes(layout)) this.ask(layout); return; }
    const { ttl, ax, ay, subtitles } = frame.words;
    const narrow = available < 420;
    const left = narrow ? 4 : heat ? sizes.label : 50; // where the title begins
    const room = ((wide ? beside : available) - left) * (1.1 / this.font); // in the kernel's measure
    const sub = (subtitles.find((each) => each.width <= room) ?? subtitles.at(-1)).lines;
    const dark = this.root.dataset.dark === "true";
    const ink = dark ? { inkhigh: 2, inklow: 0.89, inkmid: "#ffffff" } : {};
    const scene = {
      key: [frame.spec, columns, frame.panels, sub.length, narrow].join(),
      spec: () => this.arrange(structuredClone(this.model.get("_specs")[frame.spec]), columns, frame.panels, narrow),
      signals: { ...frame.signals, ...ink, ...this.colours, ...sizes.signals, ttl, ax, ay, sub, hl: this.lit },
      rows: JSON.parse(frame.rows[layout]), width: sizes.width, height: sizes.height,
    };
    this.chart.show(scene).then(() => { if (this.chart.wanted === scene) this.root.dataset.drawn = frame.code; });
  }

  planeSize(available, columns, wide) {
    const most = columns === 2 || !wide ? 460 : 404;
    const side = 4 * Math.floor(Math.max(140, Math.min(most, (available - 84 - (columns - 1) * 48) / columns)) / 4);
    return { width: side, height: side, signals: { u: (2 * this.frame.signals.R) / side } };
  }

  heatSize(frame, available, columns) {
    const { texts } = frame.signals;
    const label = Math.min(260, 7 * Math.max(...texts.map((text) => text.length))) + 22;
    const across = frame.across;
    const most = Math.max(columns === 2 ? 320 : 420, across * 44);
    const width = Math.floor(Math.max(across * 20, Math.min(most, (available - label - 12 - (columns - 1) * 26) / columns)));
    const cell = Math.max(16, Math.min(34, Math.floor(400 / texts.length)));
    return { width, label, height: cell * texts.length, signals: { cellh: cell, cellw: width / across } };
  }

  /** Write the arrangement of the panels into a specification. */
  arrange(spec, columns, panels, narrow) {
    spec.columns = columns;
    spec.spacing = spec.spec.layer.length > 3 && columns === 2 ? 48 : 26;
    spec.title.offset = panels === 1 ? -4 : 10;
    spec.title.frame = narrow ? "bounds" : "group"; // a narrow view has no room for an indent
    spec.padding = 2;
    if (spec.spec.layer.length > 3 && columns === 2) spec.bounds = "flush"; else delete spec.bounds;
    return spec;
  }

  // ----- table -----

  drawTable() {
    const { columns, rows, half, even } = this.frame.table;
    const keys = { variable: (row) => row.text.toLowerCase(), 0: (row) => row.values[0], 1: (row) => row.values[1], length: (row) => row.length };
    const key = keys[this.sort.by];
    const order = [...rows].sort((p, q) => (key(p) > key(q) ? 1 : key(p) < key(q) ? -1 : 0) * (this.sort.down ? -1 : 1));
        const name = Math.min(170, 22 + Math.max(44, ...rows.map((row) => row.text.length * 6.6)));
    const bar = this.room < 300 ? 0 : Math.round(Math.max(24, Math.min(150, (this.room - name - 60) / 2 - 50)));
    const heads = [["variable", "Variable"], [0, columns[0]], [1, columns[1]], ["length", "Length"]].map(([by, text]) => {
      const chosen = this.sort.by === by;
      const button = element("button", { type: "button", "data-by": by, title: by === "length" ? "Distance from the origin in the plane of the two components" : "Sort", onclick: () => this.sortBy(by) }, text,
        element("span", { "aria-hidden": "true" }, chosen ? (this.sort.down ? " ↓" : " ↑") : ""));
      return element("th", { scope: "col", class: typeof by === "number" ? "number" : by,
        style: typeof by === "number" ? `width:${bar + 50}px` : null,
        "aria-sort": chosen ? (this.sort.down ? "descending" : "ascending") : "none" }, button);
    });
    const body = order.map((row) => element("tr", { "data-variable": row.variable },
      element("td", {}, element("button", { type: "button", class: "name", title: row.about ? `${row.variable}: ${row.about}` : row.variable, "aria-pressed": "false",
        onclick: () => this.pin(row.variable), onfocus: () => this.light(row.variable), onblur: () => this.light(this.pinned) }, row.text)),
      [0, 1].map((c) => element("td", { class: "number" }, element("span", {}, digits(row.values[c])), bar ? this.bar(row, c, bar, half, even) : null)),
      element("td", { class: "length" }, digits(row.length))));
    const scroll = element("div", { class: "scroll", tabindex: rows.length > 14 ? 0 : null, role: "region", "aria-label": "Table of loadings" },
      element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, body)));
    const legend = element("p", { class: "key" },
      rows[0].reference ? element("span", {}, element("i", { class: "reference" }), "reference") : null,
      element("span", { title: "Length of a loading if all variables weighed the same" }, element("i", { class: "even" }), `1/√p = ${even.toFixed(2)}`));
    const focused = this.table.contains(document.activeElement) ? document.activeElement : null;
    const back = focused && (focused.dataset.by ?? focused.closest("tr")?.dataset.variable);
    const top = this.table.querySelector(".scroll")?.scrollTop ?? 0;
    this.table.replaceChildren(scroll, legend);
    scroll.scrollTop = top;
    for (const line of scroll.querySelectorAll("tbody tr")) {
      line.addEventListener("mouseenter", () => this.light(line.dataset.variable));
      line.addEventListener("mouseleave", () => this.light(this.pinned));
    }
    this.markRows();
    if (back !== null && back !== undefined) {
      [...this.table.querySelectorAll("th button, td .name")].find((b) => (b.dataset.by ?? b.closest("tr").dataset.variable) === back)?.focus({ preventScroll: true });
    }
  }

  bar(row, column, width, half, even) {
    const at = (value) => Math.max(1, Math.min(width - 1, width / 2 + (value / half) * (width / 2 - 2)));
    const shape = (tag, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };
    const line = (name, x, y0, y1) => shape("path", { class: name, d: `M${x.toFixed(1)},${y0}V${y1}` });
    const svg = shape("svg", { width, height: 24, "aria-hidden": "true" });
    const value = at(row.values[column]);
    svg.append(line("even", at(even), 0, 24), line("even", at(-even), 0, 24),
      shape("rect", { class: "bar", x: Math.min(width / 2, value), y: 8, width: Math.max(0.6, Math.abs(value - width / 2)), height: 8 }),
      line("zero", width / 2, 0, 24));
    if (row.reference) svg.append(line("reference", at(row.reference[column]), 5, 19));
    return svg;
  }

  sortBy(by) {
    this.sort = this.sort.by === by ? { by, down: !this.sort.down } : { by, down: by !== "variable" };
    this.drawTable();
  }

  light(variable) {
    if (this.lit === variable) return;
    this.lit = variable;
    this.markRows();
    this.chart.light(variable);
  }

  pin(variable) {
    this.pinned = this.pinned === variable ? null : variable;
    this.lit = undefined;
    this.light(this.pinned);
    this.markRows();
  }

  markRows() {
    for (const row of this.table.querySelectorAll("tbody tr")) {
      const pinned = row.dataset.variable === this.pinned;
      row.classList.toggle("lit", row.dataset.variable === this.lit);
      row.classList.toggle("pinned", pinned);
      row.querySelector(".name").setAttribute("aria-pressed", String(pinned));
    }
  }

  // ----- export -----

  get fileName() { return `${this.frame.title} loadings`.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-"); }

  async savePicture(kind) {
    const href = await this.chart.picture(kind, this.colours.bg);
    return save(href, `${this.fileName}.${kind}`);
  }

  saveTable() {
    const { columns, rows } = this.frame.table;
    const referenced = Boolean(rows[0].reference);
    const head = ["variable", ...columns, "length", ...(referenced ? columns.map((name) => `reference ${name}`) : [])];
    const lines = rows.map((row) => [row.variable, ...row.values, row.length, ...(referenced ? row.reference : [])]);
    const text = [head, ...lines].map((line) => line.map(csvField).join(",")).join("\r\n");
    return save(`data:text/csv;charset=utf-8,${encodeURIComponent(`${text}\r\n`)}`, `${this.fileName}.csv`);
  }
}

export default {
  render({ model, el }) {
    const root = element("div");
    el.append(root);
    const explorer = new Explorer(model, root);
    return () => explorer.close();
  },
};
