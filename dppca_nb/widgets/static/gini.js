// The explorer of Gini components: Nu, Outlier and View strips over what every explorer has.

const GINI_KINDS = [["scores", "Projection"], ["vector", "Loadings"], ["circle", "Circle"], ["contributions", "Contributions"], ["shares", "Shares"], ["correlations", "Correlations"]];

class GiniView extends Explorer {
  get nothing() { return "No components to draw yet"; }

  makeStrips() { return [["Nu", this.aversionControls()], ["Outlier", this.outlierControls()], ["View", this.viewControls()]]; }

  aversionControls() {
    this.big = element("span", { class: "big" });
    this.small = element("span", { class: "small" });
    this.nu = stepper("Aversion parameter nu, logarithmic", [1.05, 1.2, 1.5, 2, 3, 5, 10, 20], ({ value }, held) => this.slide("nu", value, held));
    return element("div", { class: "epsilon" },
      element("output", { class: "readout", "aria-live": "off" }, this.big, this.small),
      element("div", {}, this.nu.element,
        element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, "large values count"), element("span", {}, "small values count"))));
  }

  outlierControls() {
    this.theta = stepper("Factor by which one row is multiplied", [1, 2, 5, 10, 50, 100, 1000], ({ value }, held) => this.slide("theta", value, held));
    this.factor = element("span", { class: "caption factor" });
    this.row = select("Row that is multiplied", (value) => this.send({ row: Number(value) }));
    this.position = element("input", { type: "number", min: 0, "aria-label": "Position of the row that is multiplied, from 0",
      onchange: () => this.send({ row: Math.max(0, Math.min(this.frame.controls.n - 1, Math.round(Number(this.position.value)) || 0)) }) });
    return element("div", { class: "row outlier" },
      captioned("Row", "The observation that is made an outlier; the data stay as they are", this.row.element, this.position),
      element("div", { class: "field dial" }, this.factor, this.theta.element));
  }

  viewControls() {
    this.kind = choice(`${this.id}-kind`, "Plot type", GINI_KINDS, (value) => this.send({ kind: value }));
    this.reference = select("Ordinary components", (value) => this.send({ show_reference: value }));
    this.referenceField = captioned("Variance", "Ordinary components of the same rows, scaled", this.reference.element);
    return element("div", { class: "row" }, this.kind.element, this.makePair(), this.makeNumber(), this.makeLabels(), this.referenceField);
  }

  slide(name, value, held) {
    this.held = held ? name : null;
    this.read(name, value);
    if (!held || !this.frame.slow) this.send({ [name]: value, _dragging: held });
  }

  read(name, value) {
    if (name === "nu") this.big.textContent = `ν = ${value}`;
    else this.factor.textContent = `× ${value}`;
  }

  updateControls(state) {
    const { nu, theta, kind, row, components, labels } = state.settings;
    if (this.held !== "nu") { this.nu.set(state.nus, nu, `nu ${nu}`); this.read("nu", Number(nu.toPrecision(4))); }
    if (this.held !== "theta") { this.theta.set(state.thetas, Math.abs(theta), `times ${theta}`); this.read("theta", theta); }
    const named = state.n <= state.rows.length;
    this.row.element.hidden = !named;
    this.position.hidden = named;
    if (named) this.row.set(state.rows.map((text, i) => [i, text]), row);
    else if (document.activeElement !== this.position) this.position.value = row;
    this.kind.set(kind);
    const arrows = kind === "vector" || kind === "circle";
    this.pairField.hidden = ["shares", "correlations"].includes(kind);
    this.up.element.hidden = kind === "contributions"; // which shows one component
    this.pairField.querySelector(".caption").hidden = kind === "contributions";
    this.numberField.hidden = !arrows;
    this.labelsField.hidden = !arrows && kind !== "scores";
    this.referenceField.hidden = ["circle", "correlations"].includes(kind);
    this.updatePair(components, state.k);
    this.updateNumber(state.shown, state.p);
    this.labels.checked = labels;
    this.labelsName.textContent = "Labels";
    const places = [["off", "off"], ["beside", "beside"]];
    if (kind === "vector") places.push(["underneath", "underneath"]);
    const place = state.settings.show_reference;
    this.reference.set(places, kind !== "vector" && place === "underneath" ? "beside" : place);
  }

  updateWords(frame) {
    this.small.textContent = frame.readout;
    super.updateWords(frame);
  }

  size(frame, available, columns, wide) {
    const { spec } = frame;
    if (spec === "heatmap") return this.heatSize(frame, available, columns);
    if (spec === "plane") return this.planeSize(frame, available, columns, wide);
    const room = { gap: 26, left: 50, margin: 68 };
    if (spec.startsWith("scree")) {
      const width = Math.floor(Math.max(150, Math.min(wide ? 520 : 640, available - room.margin)));
      return { ...room, width, height: Math.round(Math.min(300, Math.max(200, width * 0.6))), fixed: true, signals: { written: frame.across * 56 <= width } };
    }
    const each = (margin) => Math.max(150, (available - margin - (columns - 1) * room.gap) / columns);
    if (spec.startsWith("contributions")) {
      const width = Math.floor(Math.min(wide ? 420 : 520, each(220)));
      const height = Math.max(9, Math.min(18, Math.floor(520 / frame.across))) * frame.across;
      return { ...room, width, height, left: 160, margin: 220, fixed: true, signals: {} };
    }
    const width = 4 * Math.floor(Math.min(columns === 2 || !wide ? 520 : 460, each(room.margin)) / 4);
    return { ...room, width, height: Math.round(width * frame.signals.aspect), signals: {} };
  }
}
