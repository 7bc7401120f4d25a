// The loading explorer: Budget and View strips over what every explorer has.

class LoadingView extends Explorer {
  get nothing() { return "No loadings to draw yet"; }

  makeStrips() { return [["Budget", this.budgetControls()], ["View", this.viewControls()]]; }

  budgetControls() {
    this.big = element("span", { class: "big" });
    this.small = element("span", { class: "small", title: "The ε that this noise really gives at the stated δ, and σ, the standard deviation of the noise" });
    this.slider = stepper("Privacy budget epsilon, logarithmic", [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], (step, held) => this.slide(step, held));
    this.delta = select("Delta", (value) => this.send({ delta: Number(value) }));
    this.calibration = choice(`${this.id}-calibration`, "Calibration of the noise",
      [["classical", "classical"], ["analytic", "analytic"]], (value) => this.send({ calibration: value }));
    this.draw = element("button", { type: "button", class: "button", onclick: () => this.send({ draw: this.model.get("draw") + 1 }) }, "New noise draw");
    return element("div", { class: "budget" },
      element("div", { class: "epsilon" },
        element("output", { class: "readout", "aria-live": "off" }, this.big, this.small),
        element("div", {}, this.slider.element,
          element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, "more private"), element("span", {}, "more accurate")))),
      element("div", { class: "row" }, captioned("δ", "Chance with which the promise of ε may fail; keep it far below 1/n", this.delta.element),
        captioned("Noise", "classical: the textbook formula, proved for ε below 1; analytic: the least noise that keeps ε and δ", this.calibration.element), this.draw));
  }

  viewControls() {
    this.kind = choice(`${this.id}-kind`, "Plot type", [["vector", "Vectors"], ["point", "Points"], ["heatmap", "Heatmap"]],
      (value) => this.send({ kind: value }));
    this.reference = select("Non-private reference", (value) => this.send({ show_reference: value }));
    return element("div", { class: "row" }, this.kind.element, this.makePair(), this.makeNumber(), this.makeLabels(),
      captioned("Reference", "Ordinary principal components of the same table: another method, and not private", this.reference.element));
  }

  slide(step, held) {
    this.dragging = held;
    this.big.textContent = `ε = ${step.text}`;
    if (!held || !this.frame.slow) this.send({ epsilon: step.value, _dragging: held });
  }

  updateControls(state) {
    if (!this.dragging) {
      this.slider.set(state.steps, state.epsilon.value, `epsilon ${state.epsilon.text}`);
      this.big.textContent = `ε = ${state.epsilon.text}`;
    }
    this.delta.set(state.deltas.map(({ value, text }) => [value, text]), state.delta);
    this.calibration.set(state.calibration);
    this.draw.title = `Noise draw ${state.draw}`;
    this.kind.set(state.kind);
    this.pairField.hidden = state.kind === "heatmap"; // which shows more than a pair
    this.updatePair(state.components, state.p);
    this.updateNumber(state.shown, state.p);
    this.labels.checked = state.labels;
    this.labelsName.textContent = state.kind === "heatmap" ? "Values" : "Labels";
    const places = [["off", "off"], ["beside", "beside"]];
    if (state.kind !== "heatmap") places.push(["underneath", "underneath"]);
    this.reference.set(places, state.reference);
  }

  updateWords(frame) {
    this.small.textContent = frame.readout;
    super.updateWords(frame);
  }

  size(frame, ...room) { return frame.spec === "heatmap" ? this.heatSize(frame, ...room) : this.planeSize(frame, ...room); }
}
