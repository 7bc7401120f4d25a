// One live chart: the specification is embedded once per kind and arrangement; rows and signals are replaced in place.
// vegaEmbed is put in front of this file by hatch_build.py.

const LABEL_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

// Signals of the specifications and the style-sheet variables they follow, so the picture is at home where it stands.
const COLOURS = {
  ink: "--dx-ink", muted: "--dx-muted", faint: "--dx-line", bg: "--dx-bg", ring: "--dx-ring", ring1: "--dx-ring1",
  axisc: "--dx-axis", blue: "--dx-private", grey: "--dx-reference", orange: "--dx-orange", warntext: "--dx-warn",
  heatlow: "--dx-heat-low", heatmid: "--dx-heat-mid", heathigh: "--dx-heat-high",
};

const rgb = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);

const luminance = (colour) => rgb(colour).slice(0, 3)
  .map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

/** The colour behind an element: its own or its nearest ancestor's that is not see-through. */
function backdrop(element) {
  for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
    const colour = getComputedStyle(at).backgroundColor;
    const alpha = rgb(colour)[3];
    if (colour && colour !== "transparent" && (alpha === undefined || alpha > 0.5)) return colour;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(17, 17, 17)" : "rgb(255, 255, 255)";
}

/** Follow the page's theme, whatever front end sets it; returns what the chart should be painted with. */
function readTheme(root) {
  const behind = backdrop(root.parentElement ?? root);
  root.dataset.dark = luminance(behind) < 0.2;
  root.style.setProperty("--dx-behind", behind);
  const probe = document.createElement("span");
  root.append(probe);
  const colours = {};
  for (const [signal, variable] of Object.entries(COLOURS)) {
    probe.style.color = `var(${variable})`;
    colours[signal] = getComputedStyle(probe).color;
  }
  probe.remove();
  return colours;
}

/** Call back when the page changes its theme. Returns a function that stops it. */
function watchTheme(callback) {
  const observer = new MutationObserver(callback);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-light", "data-jp-theme-name", "data-theme"] });
  }
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", callback);
  return () => { observer.disconnect(); scheme.removeEventListener("change", callback); };
}

/** How much wider than the kernel's width table this browser's font is, in steps of 0.05 from 1.1. */
function fontFactor() {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `450 20px ${LABEL_FONT}`;
  // the kernel's table gives this text 27.89 em
  const measured = context.measureText("mean concave points abdeghnopqu 0123456789 ABC wet").width / 20 / 27.89;
  return Math.max(1.1, Math.min(1.6, Math.ceil(22 * measured) / 20));
}

/** A specification with its first rows and signals: without any, a legend has no size. */
function filled(spec, signals, rows, width, height) {
  spec.data.values = rows;
  Object.assign(spec.spec, { width, height });
  for (const param of spec.params) if (param.name in signals) param.value = signals[param.name];
  return spec;
}

/** A chart inside `host`. `show` draws; `light` highlights one variable; `picture` exports. */
class LiveChart {
  constructor(host, { onPoint, onPick, about }) {
    this.host = host;
    this.onPoint = onPoint;
    this.onPick = onPick;
    this.about = about;
    this.key = "";
    this.view = null;
    this.turn = Promise.resolve();
    this.tip = element("div", { class: "tip", hidden: true });
  }

  /** Draw; calls queue, and one that is overtaken by a newer is skipped, so the last one always wins. */
  show(scene) {
    this.wanted = scene;
    this.turn = this.turn.then(() => {
      if (this.wanted !== scene || this.closed) return undefined;
      return this.draw(scene);
    }).catch((error) => console.error("dppca_nb: the chart could not be drawn", error));
    return this.turn;
  }

  async draw({ key, spec, signals, rows, width, height }) {
    if (key !== this.key) await this.embed(key, filled(spec(), signals, rows, width, height));
    for (const [name, value] of Object.entries({ ...signals, child_width: width, child_height: height })) this.set(name, value);
    const size = `${width}x${height}`;
    if (size !== this.size) { this.size = size; this.view.resize(); }
    this.view.change("rows", this.changes(rows));
    await this.view.runAsync();
  }

  /**
   * What turns the rows there are into others: rows of the same role, panel and variable change field by field, so that
   * marks move and are not made anew. Which of two marks lies on top may depend on what was shown before.
   */
  changes(rows) {
    const change = this.view.changeset();
    const kept = new Map();
    const what = ({ role, panel, variable }) => `${role} ${panel} ${variable}`;
    for (const tuple of this.view.data("rows")) {
      if (!kept.has(what(tuple))) kept.set(what(tuple), []);
      kept.get(what(tuple)).push(tuple);
    }
    for (const row of rows) {
      const tuple = kept.get(what(row))?.shift();
      if (!tuple) change.insert([row]);
      else {
        for (const field of new Set([...Object.keys(tuple), ...Object.keys(row)])) {
          const [before, after] = [tuple[field], row[field]];
          if (before !== after && JSON.stringify(before) !== JSON.stringify(after)) change.modify(tuple, field, after);
        }
      }
    }
    for (const rest of kept.values()) if (rest.length) change.remove(rest);
    return change;
  }

  /** Set a signal that this specification has and that changed: each one set is evaluated all the way to the marks. */
  set(name, value) {
    const text = JSON.stringify(value);
    if (!this.sent.has(name) || this.sent.get(name) === text) return;
    this.sent.set(name, text);
    this.view.signal(name, value);
  }

  async embed(key, spec) {
    this.view?.finalize();
    const stage = element("div", { class: "stage" });
    this.host.replaceChildren(stage, this.tip);
    const { view } = await vegaEmbed(stage, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false,
      config: { aria: false }, // the stage says what is shown, in words
      tooltip: (_, event, item, value) => this.explain(event, value),
    });
    this.view = view;
    this.key = key;
    this.size = null;
    this.sent = new Map(Object.keys(view.getState().signals).map((name) => [name, undefined]));
    const variable = (item) => (["arc", "archead"].includes(item?.datum?.role) ? null : item?.datum?.variable ?? null);
    view.addEventListener("mouseover", (_, item) => { if (variable(item)) this.onPoint(variable(item)); });
    view.addEventListener("mouseout", () => this.onPoint(null));
    view.addEventListener("click", (_, item) => { if (variable(item)) this.onPick(variable(item)); });
  }

  /** A tooltip of our own: text only, inside the widget, no style outside it. */
  explain(event, value) {
    this.tip.hidden = !value;
    if (!value) return;
    this.tip.replaceChildren(...Object.entries(value).flatMap(([name, text], i) => (
      i === 0 ? [element("b", {}, String(text)), element("span", {}, this.about(text) ?? "")] : [element("span", {}, `${name} ${String(text).replace(/^-/, "−")}`)])));
    const box = this.host.getBoundingClientRect();
    const x = Math.min(event.clientX - box.left + 14, Math.max(0, box.width - this.tip.offsetWidth - 4));
    this.tip.style.transform = `translate(${x}px, ${event.clientY - box.top + 16}px)`;
  }

  light(variable) {
    if (!this.view) return;
    this.set("hl", variable);
    this.view.runAsync();
  }

  /** Data URL of the picture, colours resolved and the background painted. */
  async picture(kind, background) {
    this.view.background(background);
    try {
      return await this.view.toImageURL(kind, kind === "png" ? 2 : 1);
    } finally {
      this.view.background("transparent");
      await this.view.runAsync();
    }
  }

  close() {
    this.closed = true;
    this.view?.finalize();
    this.view = null;
  }
}
