// The loading explorer: Budget, Ledger and View strips over what every explorer has.

class LoadingView extends Explorer {
  get nothing() { return "No loadings to draw yet"; }

  makeStrips() {
    this.ledger = new LedgerStrip(this.id, {
      spend: (asked) => this.model.send({ do: "spend", asked }),
      choose: (epsilon) => this.send({ top_up_to: epsilon }),
    });
    return [["Budget", this.budgetControls()], ["Ledger", this.ledger.element], ["View", this.viewControls()]];
  }

  budgetControls() {
    this.big = element("span", { class: "big" });
    this.small = element("span", { class: "small", title: "The ε that this noise really gives at the stated δ, and σ, the standard deviation of the noise" });
    this.slider = stepper("Privacy budget epsilon, logarithmic", [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], (step, held) => this.slide(step, held));
    this.delta = select("Delta", (value) => this.send({ delta: Number(value) }));
    this.calibration = choice(`${this.id}-calibration`, "Calibration of the noise",
      [["classical", "classical"], ["analytic", "analytic"]], (value) => this.send({ calibration: value }));
    this.draw = element("button", { type: "button", class: "button", onclick: () => this.send({ draw: this.model.get("draw") + 1 }) }, "New noise draw");
    this.pattern = select("Pattern of the simulated data", (value) => this.send({ pattern: value }));
    this.patternField = captioned("Pattern", "How fast the simulated variances fall; it is not that of your data", this.pattern.element);
    return element("div", { class: "budget" },
      element("div", { class: "epsilon" },
        element("output", { class: "readout", "aria-live": "off" }, this.big, this.small),
        element("div", {}, this.slider.element,
          element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, "more private"), element("span", {}, "more accurate")))),
      element("div", { class: "row" }, captioned("δ", "Chance with which the promise of ε may fail; keep it far below 1/n", this.delta.element),
        captioned("Noise", "classical: the textbook formula, proved for ε below 1; analytic: the least noise that keeps ε and δ", this.calibration.element), this.patternField, this.draw));
  }

  viewControls() {
    this.kind = choice(`${this.id}-kind`, "Plot type", [["vector", "Vectors"], ["point", "Points"], ["heatmap", "Heatmap"]],
      (value) => this.send({ kind: value }));
    this.reference = select("Non-private reference", (value) => this.send({ show_reference: value }));
    this.uncertainty = select("Uncertainty", (value) => this.send({ uncertainty: value }));
    this.noise = select("Noise shown, at least as much as released", (value) => this.send({ noise_shown: value === "" ? null : Number(value) }));
    this.referenceField = captioned("Reference", "Ordinary principal components of the same table: another method, and not private", this.reference.element);
    this.noiseField = captioned("Noise shown", "More noise can be added to a release for free", this.noise.element);
    return element("div", { class: "row" }, this.kind.element, this.makePair(), this.makeNumber(), this.makeLabels(), this.referenceField,
      captioned("Uncertainty", "How far other draws of the noise move things; sampling error is not in it", this.uncertainty.element), this.noiseField);
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
    const releasing = Boolean(state.patterns);
    this.draw.textContent = releasing ? "New simulated draw" : "New noise draw";
    this.patternField.hidden = this.noiseField.hidden = !releasing;
    this.referenceField.hidden = releasing;
    if (releasing) {
      this.pattern.set(state.patterns, state.pattern);
      this.noise.set([["", "as released"], ...state.lower], state.noise_shown ?? "");
      this.noiseField.hidden = state.budget || !state.lower.length;
    }
    this.strip("Budget").hidden = !state.budget;
    this.strip("View").querySelector("h4").dataset.cost = releasing && !state.budget ? "free" : "";
    this.strip("Ledger").querySelector("h4").dataset.cost = releasing && !state.budget ? "spends" : "";
    this.uncertainty.set(state.kind === "heatmap" ? [["off", "off"], ["ellipses", "faded cells"]] : [["off", "off"], ["ellipses", "90 % ellipses"], ["cloud", "cloud of redraws"]],
      state.kind === "heatmap" && state.uncertainty === "cloud" ? "ellipses" : state.uncertainty);
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

  update() {
    super.update();
    const { frame } = this;
    this.strip("Ledger").hidden = !frame.ledger;
    if (frame.controls) this.strip("Budget").hidden = !frame.controls.budget;
    if (frame.ledger) this.ledger.update(frame.ledger, frame.busy);
    this.root.classList.toggle("released", Boolean(frame.controls && !frame.controls.budget));
  }

  updateWords(frame) {
    this.small.textContent = frame.readout;
    super.updateWords(frame);
  }

  size(frame, ...room) { return frame.spec === "heatmap" ? this.heatSize(frame, ...room) : this.planeSize(frame, ...room); }
}
