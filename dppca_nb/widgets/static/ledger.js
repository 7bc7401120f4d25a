// The Ledger strip: what was spent, what the button would spend, and the question before it. The kernel writes every
// word and every number; nothing here reaches the data but one message, after the second press.

const DOUBLE_CLICK = 600; // milliseconds in which an answer is no decision yet

class LedgerStrip {
  /** `spend` is told what was asked about; `choose` an epsilon to top up to. */
  constructor(id, { spend, choose }) {
    Object.assign(this, { id, spend, choose, asking: null });
    this.bar = element("div", { class: "fuel", role: "img" });
    this.legend = element("div", { class: "legend" });
    this.goals = select("Top up to", (value) => choose(Number(value)));
    this.goalField = captioned("More accuracy", "Draw once more and average: the same as one release at a larger ε", this.goals.element);
    this.button = element("button", { type: "button", class: "button go", onclick: () => this.ask() });
    this.told = element("span", { class: "told", id: `${id}-told` });
    this.button.setAttribute("aria-describedby", this.told.id);
    this.offer = element("div", { class: "act" }, this.goalField, this.button, this.told);
    this.question = element("b", { id: `${id}-question` });
    this.warning = element("span");
    this.yes = element("button", { type: "button", class: "button solid", onclick: () => this.answer() });
    this.no = element("button", { type: "button", class: "button", onclick: () => this.close() }, "Not now");
    this.confirm = element("div", { class: "confirm", role: "group", "aria-labelledby": this.question.id, hidden: true,
      onkeydown: (event) => { if (event.key === "Escape") this.close(); } },
      element("p", {}, this.question, element("br"), this.warning), element("div", { class: "answers" }, this.yes, this.no));
    this.element = element("div", { class: "ledger" }, element("div", {}, this.bar, this.legend), element("div", {}, this.offer, this.confirm));
  }

  update(strip, busy) {
    const same = this.strip && JSON.stringify(this.strip.asked) === JSON.stringify(strip.asked);
    this.strip = strip;
    if (this.asking && (!same || !strip.enabled || busy)) this.close(); // the question was about something else
    const part = (kind, share) => element("i", { class: kind, style: `width:${(100 * share).toFixed(3)}%` });
    this.bar.replaceChildren(...strip.shares.map((share) => part("spent", share)), ...(strip.share === null ? [] : [part("pending", strip.share)]));
    this.bar.setAttribute("aria-label", strip.spoken);
    this.legend.replaceChildren(...strip.legend.map(({ kind, text }) => element("span", {}, kind ? element("i", { class: kind }) : null, text)));
    this.goalField.hidden = !strip.goal;
    if (strip.goal) this.goals.set(strip.offers.map(({ value, text }) => [value, text]), strip.goal);
    this.button.hidden = !strip.button;
    this.button.textContent = strip.button ?? "";
    this.button.disabled = !strip.enabled || Boolean(busy);
    this.told.textContent = busy ?? strip.told;
    this.told.classList.toggle("bad", !busy && !strip.enabled && Boolean(strip.told));
    this.question.textContent = strip.question ?? "";
    this.warning.textContent = strip.warning ?? "";
    this.yes.textContent = strip.yes ?? "";
  }

  ask() {
    this.asking = { since: performance.now(), about: this.strip.asked };
    this.show();
    this.no.focus();
  }

  answer() {
    if (!this.asking || performance.now() - this.asking.since < DOUBLE_CLICK) return; // a double click is not a decision
    const { about } = this.asking;
    this.close();
    this.spend(about);
  }

  close() {
    const inside = this.confirm.contains(this.confirm.getRootNode().activeElement);
    this.asking = null;
    this.show();
    if (inside) this.button.focus();
  }

  show() {
    this.confirm.hidden = !this.asking;
    this.offer.hidden = Boolean(this.asking);
    this.element.classList.toggle("asking", Boolean(this.asking));
  }
}
