// The explorer of ordinary components: Method and View strips over what every explorer has.

const PCA_KINDS = [["scores", "Scores"], ["vector", "Loadings"], ["heatmap", "Heatmap"], ["shares", "Shares"], ["variances", "Variances"]];

class PCAView extends Explorer {
  get nothing() { return "No components to draw yet"; }

  makeStrips() { return [["Method", this.methodControls()], ["View", this.viewControls()]]; }

  methodControls() {
    this.method = choice(`${this.id}-method`, "Route: singular values, eigenvalues, or the convention of R's prcomp", [["svd", "svd"], ["eigen", "eigen"], ["prcomp", "prcomp"]], (value) => this.send({ method: value }));
    this.center = element("input", { type: "checkbox", onchange: () => this.send({ center: this.center.checked }) });
    this.scale = element("input", { type: "checkbox", onchange: () => this.send({ scale: this.scale.checked }) });
    this.divisor = select("Divisor of the variances", (value) => this.send({ ddof: value === "" ? null : Number(value) }));
    return element("div", { class: "row" },
      this.method.element,
      element("label", { class: "check", title: "Subtract the mean of each column" }, this.center, element("span", {}, "Centre")),
      element("label", { class: "check", title: "Divide each column by its standard deviation" }, this.scale, element("span", {}, "Scale")),
      captioned("Divisor", "What sums of squares are divided by to give variances", this.divisor.element));
  }

  viewControls() {
    this.kind = choice(`${this.id}-kind`, "Plot type", PCA_KINDS, (value) => this.send({ kind: value }));
    this.color = select("Colour of the points", (value) => this.send({ color: value }));
    this.colorField = captioned("Colour", "What colours the points", this.color.element);
    return element("div", { class: "row" }, this.kind.element, this.makePair(), this.colorField, this.makeNumber(), this.makeLabels());
  }

  updateControls(state) {
    this.method.set(state.settings.method);
    this.center.checked = state.settings.center;
    this.scale.checked = state.settings.scale;
    this.divisor.set([["", `by route: ${state.route}`], ["0", "n"], ["1", "n − 1"]], state.settings.ddof ?? "");
    const { kind } = state.settings;
    this.kind.set(kind);
    const loadings = kind === "vector" || kind === "heatmap";
    this.pairField.hidden = !["scores", "vector"].includes(kind);
    this.colorField.hidden = kind !== "scores";
    this.numberField.hidden = !loadings;
    this.labelsField.hidden = !loadings && !(kind === "scores" && state.named);
    this.updatePair(state.settings.components, state.k);
    this.updateNumber(state.shown, state.p);
    this.color.set(state.colors.map((name) => [name, name]), state.settings.color);
    this.labels.checked = state.settings.labels;
    this.labelsName.textContent = kind === "heatmap" ? "Values" : "Labels";
  }

  size(frame, available, columns, wide) {
    if (frame.spec === "heatmap") return this.heatSize(frame, available, columns);
    if (frame.spec === "plane") return this.planeSize(frame, available, columns, wide);
    const room = { gap: 26, left: 50, margin: 68 };
    if (frame.spec === "scree") {
      const width = Math.floor(Math.max(150, Math.min(wide ? 520 : 640, available - room.margin)));
      const written = frame.room <= width;
      return { ...room, width, height: Math.round(Math.min(300, Math.max(200, width * 0.6))), fixed: true, signals: { written } };
    }
    const width = 4 * Math.floor(Math.max(150, Math.min(wide ? 460 : 560, available - room.margin)) / 4);
    return { ...room, width, height: Math.round(width * frame.signals.aspect), signals: {} };
  }
}
