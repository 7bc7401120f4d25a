// What every explorer is made of: header, strips of controls, chart, linked table, footer, exports.
// The kernel sends one frame per change (rows, signals, words, state of the controls); this file only lays it out.
// Derived classes add their strips, and say how large a picture of theirs is.

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
    this.lit = null;
    this.pinned = null;
    this.layout = null;
    this.afterPaint = later();
    this.width = 0; // as the observer of sizes saw it last: to read it here would make the browser lay out the page at every step
    root.classList.add("dppca");
    root.addEventListener("keydown", (event) => { // or Jupyter's one-key commands would take the arrow keys
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    this.build();
    this.onFrame = () => this.update();
    this.onTheme = () => { this.colours = undefined; this.redraw(); };
    model.on("change:_frame", this.onFrame);
    this.stopTheme = watchTheme(this.onTheme);
    this.sizes = new ResizeObserver(() => { if (root.clientWidth !== this.width) { this.width = root.clientWidth; this.redraw(); } });
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
    this.badge = element("span", { class: "badge" });
    this.voidBadge = element("span", { class: "badge bad" }, "Guarantee void");
    this.export = element("div", { class: "export", role: "group", "aria-label": "Export" },
      actionButton("SVG", "Save picture as SVG", "Saved", () => this.savePicture("svg")),
      actionButton("PNG", "Save picture as PNG", "Saved", () => this.savePicture("png")),
      actionButton("CSV", "Save the table as CSV", "Saved", () => this.saveTable()),
      actionButton("Copy code", "Copy one call that redraws this view", "Copied", () => copy(this.frame.code)));
    this.banner = element("p", { class: "banner" });
    this.stage = element("div", { class: "chart", role: "img" });
    this.chart = new LiveChart(this.stage, { about: (v) => this.frame.table.rows.find((row) => row.variable === v)?.about, onPoint: (v) => this.light(v ?? this.pinned), onPick: (v) => this.pin(v) });
    this.tableHost = element("div", { class: "table" });
    this.table = new LinkedTable(this.tableHost, { onPoint: (v) => this.light(v), onLeave: () => this.light(this.pinned), onPin: (v) => this.pin(v) });
    this.empty = element("div", { class: "empty", hidden: true });
    this.main = element("div", { class: "main" }, this.stage, this.tableHost);
    this.status = element("p", { class: "status" });
    this.notes = element("div", { class: "notes" });
    this.statement = element("div", { class: "guarantee" });
    this.spoken = element("p", { class: "spoken", role: "status", "aria-live": "polite" });
    this.strips = this.makeStrips().map(([name, content]) => element("section", { class: "strip", "aria-label": name }, element("h4", {}, name), content));
    this.footer = element("footer", {}, this.status, this.notes, this.statement);
    this.root.replaceChildren(
      element("header", {}, this.heading, this.badge, this.voidBadge, this.export),
      this.banner, ...this.strips, this.main, this.empty, this.footer, this.spoken);
  }

  /** A strip by its name. */
  strip(name) { return this.strips.find((each) => each.getAttribute("aria-label") === name); }

  /** Controls that lie in more than one explorer. */
  makePair() {
    this.across = select("Component across", (value) => this.pair(0, Number(value)));
    this.up = select("Component up", (value) => this.pair(1, Number(value)));
    this.pairField = element("div", { class: "field" }, this.across.element, element("span", { class: "caption" }, "by"), this.up.element);
    return this.pairField;
  }

  makeNumber() {
    this.number = element("input", { type: "number", min: 1, onchange: () => this.count() });
    this.of = element("span", { class: "caption" });
    this.numberField = captioned("Variables", "How many variables to draw, the longest first", this.number, this.of);
    return this.numberField;
  }

  makeLabels() {
    this.labels = element("input", { type: "checkbox", onchange: () => this.send({ labels: this.labels.checked }) });
    this.labelsName = element("span");
    this.labelsField = element("label", { class: "check" }, this.labels, this.labelsName);
    return this.labelsField;
  }

  // ----- what the controls do -----

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
    const blank = Boolean(frame.empty) || !frame.rows;
    for (const part of [this.export, this.main, this.footer]) part.hidden = blank;
    for (const part of [this.badge, this.banner, ...this.strips]) part.hidden = !frame.controls; // other settings may help
    this.empty.hidden = !blank;
    this.voidBadge.hidden = !frame.void;
    if (frame.controls) {
      this.badge.textContent = frame.badge;
      this.banner.replaceChildren(...rich(frame.banner));
      if (!this.controlled || this.isCurrent(frame.controls.settings)) this.updateControls(frame.controls);
      this.controlled = true; // a new view beside a refused setting shows those of the last picture
    }
    if (blank) {
      const said = [...(frame.empty ?? []), ...(frame.error ? [frame.error] : [])];
      this.empty.replaceChildren(element("b", {}, this.nothing), ...said.map((text) => element("p", {}, ...rich(text))));
      return;
    }
    this.updateWords(frame);
    this.redraw();
  }

  /** Whether a frame answers what was last asked for; an older one must not move the controls back. */
  isCurrent(settings) {
    return Object.entries(settings).every(([name, value]) => JSON.stringify(this.model.get(name)) === JSON.stringify(value));
  }

  updatePair(components, most) {
    const offered = Array.from({ length: Math.min(most, 50) }, (_, i) => [i + 1, `PC${i + 1}`]);
    for (const c of components) if (c > offered.length) offered.push([c, `PC${c}`]);
    this.across.set(offered, components[0]);
    this.up.set(offered, components[1]);
  }

  updateNumber(shown, p) {
    if (document.activeElement !== this.number) this.number.value = shown;
    this.number.max = Math.min(p, 300);
    this.number.setAttribute("aria-label", `Number of variables, longest first, at most ${this.number.max}`);
    this.of.textContent = `of ${p.toLocaleString("en-US")}`;
  }

  updateWords(frame) {
    const failed = Boolean(frame.error);
    const mark = failed || frame.beware ? element("span", { class: "mark", "aria-hidden": "true" }, "!") : element("span", { class: "mark ok", "aria-hidden": "true" });
    const said = failed ? `**${frame.ledger ? "Nothing changed" : "Not redrawn"}.** ${frame.error} The last picture is kept.` : frame.status;
    this.status.classList.toggle("bad", failed);
    this.status.replaceChildren(mark, element("span", {}, ...rich(said)));
    this.notes.replaceChildren(...frame.notes.map((text) => element("p", {}, element("span", { class: "side" }, "Note"), element("span", {}, ...rich(text)))));
    const { name, text, reasons, summary, points } = frame.statement;
    const open = this.statement.querySelector("details")?.open ?? false;
    this.statement.classList.toggle("void", Boolean(frame.void));
    this.statement.replaceChildren(element("span", { class: "side" }, name),
      element("div", {}, ...rich(text), reasons.length ? element("ol", {}, reasons.map((reason) => element("li", {}, ...rich(reason)))) : null,
        points?.length ? element("details", { open }, element("summary", {}, summary), points.map((point) => element("p", {}, ...rich(point)))) : null));
    this.stage.classList.toggle("stale", failed);
    this.tableHost.classList.toggle("stale", failed);
    this.stage.setAttribute("aria-label", frame.description);
    clearTimeout(this.speaking); // spoken once the hand is still, not at every step of a drag
    this.speaking = setTimeout(() => { this.spoken.textContent = `${said.replaceAll(/[*`\ue000\ue001]/g, "")} ${failed ? "" : frame.description}`; }, 700);
  }

  // ----- layout -----

  /** Draw the frame at the size there is; `render` runs before the element has any. */
  redraw() {
    const { frame, width } = this;
    if (!frame.rows || !width) return;
    this.colours ??= readTheme(this.root); // not before: styles cannot be read off the page
    const wide = width >= 860;
    const widest = Math.max(...frame.table.rows.map((row) => row.text.length));
    this.rail = widest > 12 ? 372 : 316;
    const available = wide ? width - this.rail - 8 : width;
    const columns = frame.panels === 2 && available >= 520 ? 2 : 1;
    // how large a panel is, how far panels stand apart, what stands left and right of them, and whether rows depend on it
    const size = this.size(frame, available, columns, wide);
    const beside = columns * size.width + (columns - 1) * size.gap + size.margin;
    this.room = wide ? width - beside - 8 : width;
    this.main.style.gridTemplateColumns = wide ? `${beside}px minmax(0, 1fr)` : "";
    const layout = size.fixed ? "" : `${size.width}|${this.font.toFixed(2)}`;
    if (!size.fixed && layout !== this.layout) { this.ask(layout); }
    const list = () => this.table.draw(frame.table, this.room);
    if (!(layout in frame.rows)) {
      if (!this.model.get("_layouts").includes(layout)) this.ask(layout);
      list(); // it needs no other rows than those that are there
      return;
    }
    if (!this.table.data) list();
    const { ttl, ax, ay, subtitles } = frame.words;
    const narrow = available < 420;
    const left = narrow ? 4 : size.left; // where the title begins
    const room = ((wide ? beside : available) - left) * (1.1 / this.font); // in the kernel's measure
    const sub = (subtitles.find((each) => each.width <= room) ?? subtitles.at(-1)).lines;
    const dark = this.root.dataset.dark === "true";
    const ink = dark ? { inkhigh: 2, inklow: 0.89, inkmid: "#ffffff" } : {};
    const rows = JSON.parse(frame.rows[layout]);
    const hl = rows.some((row) => row.variable === this.lit) ? this.lit : null; // or all would be faded by one that is not drawn
    const scene = {
      key: [frame.spec, columns, frame.panels, sub.length, narrow].join(),
      spec: () => this.arrange(structuredClone(this.model.get("_specs")[frame.spec]), columns, size.gap, narrow),
      signals: { ...frame.signals, ...ink, ...this.colours, ...size.signals, ttl, ax, ay, sub, hl },
      rows, width: size.width, height: size.height,
    };
    const shown = this.chart.show(scene);
    this.afterPaint(() => { // a hand on the slider is followed by the picture first, then by the table
      list();
      shown.then(() => { if (this.chart.wanted === scene) this.root.dataset.drawn = frame.code; });
    });
  }

  /** Room of a picture of loadings on two components. */
  planeSize(frame, available, columns, wide) {
    const most = columns === 2 || !wide ? 460 : 404;
    const side = 4 * Math.floor(Math.max(140, Math.min(most, (available - 84 - (columns - 1) * 48) / columns)) / 4);
    return { width: side, height: side, gap: 48, left: 50, margin: 84, signals: { u: (2 * frame.signals.R) / side } };
  }

  /** Room of a heatmap. */
  heatSize(frame, available, columns) {
    const { texts } = frame.signals;
    const label = Math.min(260, 7 * Math.max(...texts.map((text) => text.length))) + 22;
    const { across } = frame;
    const most = Math.max(columns === 2 ? 320 : 420, across * 44);
    const width = Math.floor(Math.max(across * 20, Math.min(most, (available - label - 12 - (columns - 1) * 26) / columns)));
    const cell = Math.max(16, Math.min(34, Math.floor(400 / texts.length)));
    return { width, height: cell * texts.length, gap: 26, left: label, margin: label + 12, fixed: true, signals: { cellh: cell, cellw: width / across } };
  }

  /** Write the arrangement of the panels into a specification. */
  arrange(spec, columns, gap, narrow) {
    const headed = this.frame.panels > 1;
    spec.columns = columns;
    spec.spacing = columns === 2 ? gap : 26;
    spec.title.offset = headed ? 10 : -4;
    spec.title.frame = narrow ? "bounds" : "group"; // a narrow view has no room for an indent
    spec.padding = 2;
    if (this.frame.spec === "plane" && columns === 2) spec.bounds = "flush"; else delete spec.bounds;
    return spec;
  }

  // ----- highlight -----

  light(variable) {
    if (this.lit === variable) return;
    this.lit = variable;
    this.table.mark(this.lit, this.pinned);
    this.chart.light(variable);
  }

  pin(variable) {
    this.pinned = this.pinned === variable ? null : variable;
    this.lit = undefined;
    this.light(this.pinned);
    this.table.mark(this.lit, this.pinned);
  }

  // ----- export -----

  get fileName() { return `${this.frame.title} ${this.frame.file}`.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-"); }

  async savePicture(kind) {
    const href = await this.chart.picture(kind, this.colours.bg);
    return save(href, `${this.fileName}.${kind}`);
  }

  saveTable() {
    const text = this.table.records().map((record) => record.map(csvField).join(",")).join("\r\n");
    return save(`data:text/csv;charset=utf-8,${encodeURIComponent(`${text}\r\n`)}`, `${this.fileName}.csv`);
  }
}
