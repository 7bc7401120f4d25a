// The table beside a picture: sortable, with bars, its rows linked to the marks. Of loadings, or of components.

const BAR = { low: -1, high: 1 };

/** A small bar from zero, with ticks. `set` moves it and says which values its ends stand for; the shapes stay. */
function tableBar(width) {
  const made = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const svg = made("svg");
  for (const [name, value] of Object.entries({ width, height: 24, "aria-hidden": "true" })) put(svg, name, value);
  return {
    element: svg,
    set(value, { low, high } = BAR, { reference, even = [], whisker } = {}) {
      const at = (x) => Math.max(1, Math.min(width - 1, 2 + ((x - low) / (high - low)) * (width - 4)));
      const upright = (name, x, y0, y1) => ["path", { class: name, d: `M${at(x).toFixed(1)},${y0}V${y1}` }];
      const [zero, end] = [at(0), at(value)];
      const shapes = [
        ...even.map((mark) => upright("even", mark, 0, 24)),
        ["rect", { class: "bar", x: Math.min(zero, end).toFixed(1), y: 8, width: Math.max(0.6, Math.abs(end - zero)).toFixed(1), height: 8 }],
        upright("zero", 0, 0, 24),
        ...(whisker ? [["path", { class: "whisker", d: `M${at(whisker[0]).toFixed(1)},12H${at(whisker[1]).toFixed(1)}` }]] : []),
        ...(reference === undefined ? [] : [upright("reference", reference, 5, 19)]),
      ];
      shapes.forEach(([tag, attributes], i) => {
        const shape = svg.childNodes[i] ?? svg.appendChild(made(tag));
        for (const [name, text] of Object.entries(attributes)) put(shape, name, text);
      });
    },
  };
}

/** A cell; `set` is told a row. */
const textCell = (name, text) => {
  const made = element("td", { class: name });
  return { element: made, set: (row) => say(made, text(row)) };
};

class LinkedTable {
  constructor(host, { onPoint, onPin, onLeave }) {
    Object.assign(this, { host, onPoint, onPin, onLeave });
    this.sorts = { loadings: { by: "length", down: true }, components: { by: "rank", down: false } };
    this.lines = [];
    this.under = null; // the line under the pointer
    this.moving = false; // whether the focus is moved by us
    this.marked = [null, null];
  }

  get kind() { return this.data.half ? "loadings" : "components"; }

  /** Show data. Elements are kept from one frame to the next as long as the table keeps its form. */
  draw(data, room) {
    this.data = data;
    this.room = room;
    const { heads, keys, cells, legend, caption } = this[this.kind]();
    const { by, down } = this.sorts[this.kind];
    const key = keys[by];
    const order = [...data.rows].sort((p, q) => (key(p) > key(q) ? 1 : key(p) < key(q) ? -1 : 0) * (down ? -1 : 1));
    const focused = this.host.contains(document.activeElement) ? document.activeElement : null;
    const back = focused && (focused.dataset.by ?? this.lines.find((line) => line.element.contains(focused))?.variable);
    const form = JSON.stringify([by, down, heads, legend, caption, data.rows.length > 14]);
    if (form !== this.form) this.build(form, heads, legend, caption);
    while (this.lines.length > order.length) this.drop(this.lines.pop());
    while (this.lines.length < order.length) this.add(cells());
    const pointed = this.under?.variable;
    order.forEach((row, i) => this.lines[i].set(row));
    this.mark(...this.marked);
    if (back !== null && back !== undefined) this.focus(back); // on the variable, wherever it stands now
    else if (focused && !focused.isConnected) this.host.querySelector(".scroll").focus({ preventScroll: true });
    if (this.under && this.under.variable !== pointed) this.onPoint(this.under.variable); // the pointer rests, and what is under it changed
  }

  /** Make the table with its heads, without rows. */
  build(form, heads, legend, caption) {
    const { by, down } = this.sorts[this.kind];
    const head = heads.map(({ by: name, text, title, width, class: type }) => {
      const chosen = name === by;
      const button = element("button", { type: "button", "data-by": name, title: title ?? "Sort", onclick: () => this.sortBy(name) }, text,
        element("span", { "aria-hidden": "true" }, chosen ? (down ? " ↓" : " ↑") : ""));
      return element("th", { scope: "col", class: type, style: width ? `width:${width}px` : null,
        "aria-sort": chosen ? (down ? "descending" : "ascending") : "none" }, button);
    });
    this.body = element("tbody");
    const scroll = element("div", { class: "scroll", tabindex: this.data.rows.length > 14 ? 0 : null, role: "region", "aria-label": caption },
      element("table", {}, element("thead", {}, element("tr", {}, head)), this.body));
    const key = element("p", { class: "key" }, legend.map(({ mark, text, title }) => element("span", { title }, mark ? element("i", { class: mark }) : null, text)));
    const top = this.host.querySelector(".scroll")?.scrollTop ?? 0;
    this.host.replaceChildren(scroll, key);
    for (const line of this.lines) this.drop(line);
    this.lines = [];
    this.form = form;
    if (top) requestAnimationFrame(() => { scroll.scrollTop = top; }); // once there are rows
  }

  /** Add a line; it is told its row at every frame. */
  add(cells) {
    const made = element("tr", {
      onmouseenter: () => { this.under = line; this.onPoint(line.variable); },
      onmouseleave: () => { this.under = null; this.onLeave(); },
    }, cells.map((cell) => cell.element));
    const line = { element: made, set: (row) => {
      line.variable = row.variable ?? null; // components are linked with no mark
      put(made, "data-variable", line.variable);
      for (const cell of cells) cell.set(row);
    } };
    this.lines.push(line);
    this.body.append(made);
  }

  /** Take a line away. */
  drop(line) {
    line.element.remove();
    if (this.under !== line) return;
    this.under = null; // an element that is gone sees no pointer leave
    this.onLeave();
  }

  /** Put the focus on the head or the variable of that name, or on the first head where there is none; it points at nothing new. */
  focus(name) {
    const offered = [...this.host.querySelectorAll("th button, td .name")];
    const found = offered.find((each) => (each.dataset.by ?? each.closest("tr").dataset.variable) === name);
    if (!found) this.onLeave();
    this.moving = true;
    (found ?? offered[0]).focus({ preventScroll: true });
    this.moving = false;
  }

  /** Loadings on a pair of components, with the reference where there is one. */
  loadings() {
    const { columns, rows, half, even } = this.data;
    const name = Math.min(170, 22 + Math.max(44, ...rows.map((row) => row.text.length * 6.6)));
    const bar = this.room < 300 ? 0 : Math.round(Math.max(24, Math.min(150, (this.room - name - 60) / 2 - 50)));
    return {
      caption: "Table of loadings",
      keys: { variable: (row) => row.text.toLowerCase(), 0: (row) => row.values[0], 1: (row) => row.values[1], length: (row) => row.length },
      heads: [
        { by: "variable", text: "Variable", class: "variable" },
        ...[0, 1].map((c) => ({ by: String(c), text: columns[c], class: "number", width: bar + 50 })),
        { by: "length", text: "Length", class: "length", title: "Distance from the origin in the plane of the two components" },
      ],
      cells: () => [this.nameCell(), this.loadingCell(0, bar), this.loadingCell(1, bar), textCell("length", (row) => digits(row.length))],
      legend: [
        ...(rows[0].reference ? [{ mark: "reference", text: "reference" }] : []),
        ...(rows[0].low && bar ? [{ mark: "whisker", text: "90 % of redraws", title: "How far the noise moves a loading when it is drawn again; sampling error is not in it" }] : []),
        { mark: "even", text: `1/√p = ${even.toFixed(2)}`, title: "Length of a loading if all variables weighed the same" },
      ],
    };
  }

  nameCell() {
    let row;
    const button = element("button", { type: "button", class: "name", "aria-pressed": "false",
      onclick: () => this.onPin(row.variable), onfocus: () => this.moving || this.onPoint(row.variable), onblur: () => this.moving || this.onLeave() });
    return { element: element("td", {}, button), set: (told) => {
      row = told;
      say(button, row.text);
      put(button, "title", row.about ? `${row.variable}: ${row.about}` : row.variable);
    } };
  }

  loadingCell(c, width) {
    const [text, bar] = [element("span"), width ? tableBar(width) : null];
    const made = element("td", { class: "number" }, text, bar?.element);
    return { element: made, set: ({ values, reference, low, high }) => {
      const { half, even } = this.data;
      const whisker = low ? [low[c], high[c]] : undefined;
      put(made, "title", whisker ? `90 % of redraws: ${whisker.map((end) => digits(end)).join(" to ")}` : null);
      say(text, digits(values[c]));
      bar?.set(values[c], { low: -half, high: half }, { reference: reference?.[c], even: [-even, even], whisker });
    } };
  }

  /** Components with their variances and shares. */
  components() {
    const { value, title, base, p, unlisted } = this.data;
    const bar = this.room < 340 ? 0 : Math.round(Math.max(24, Math.min(150, this.room - 320)));
    return {
      caption: "Table of components",
      keys: { rank: (row) => row.rank, variance: (row) => row.variance, share: (row) => row.share, total: (row) => row.total },
      heads: [
        { by: "rank", text: "Component", class: "variable" },
        { by: "variance", text: value, class: "length", width: 76, title },
        { by: "share", text: "Share", class: "number", width: bar + 68, title: "Share of the total" },
        { by: "total", text: "Together", class: "length", width: 66, title: "Share of this component and those before it" },
      ],
      cells: () => [this.rankCell(), textCell("length", (row) => row.said), this.shareCell(bar, p), textCell("length", (row) => row.together)],
      legend: [
        { text: base },
        { mark: "even", text: `1/p = ${(100 / p).toFixed(1)} %`, title: "Share of each component if all had the same" },
        ...unlisted.map((text) => ({ text })),
      ],
    };
  }

  rankCell() {
    const [text, hint] = [element("span"), element("span", { class: "hint" })];
    const made = element("td", { class: "component" }, text, hint);
    return { element: made, set: (row) => {
      put(made, "title", row.note || null);
      say(text, row.text);
      say(hint, row.note ? row.hint : "");
      hint.hidden = !row.note;
    } };
  }

  shareCell(width, p) {
    const [text, bar] = [element("span", { class: "wide" }), width ? tableBar(width) : null];
    return { element: element("td", { class: "number" }, text, bar?.element), set: (row) => {
      say(text, row.percent);
      bar?.set(row.share, { low: 0, high: 1 }, { even: [1 / p] });
    } };
  }

  sortBy(by) {
    const sort = this.sorts[this.kind];
    this.sorts[this.kind] = sort.by === by ? { by, down: !sort.down } : { by, down: !["variable", "rank"].includes(by) };
    this.draw(this.data, this.room);
  }

  mark(lit, pinned) {
    this.marked = [lit, pinned];
    for (const { element: line, variable } of this.lines) {
      if (variable === null) return;
      line.classList.toggle("lit", variable === lit);
      line.classList.toggle("pinned", variable === pinned);
      put(line.querySelector(".name"), "aria-pressed", variable === pinned);
    }
  }

  /** Everything in the table, as records of a CSV file. */
  records() {
    const { columns, rows, value, base } = this.data;
    if (this.kind === "components") {
      return [["component", `${value.toLowerCase()} (${base})`, "share", "cumulative share", "note"],
        ...rows.map((row) => [row.text, row.variance ?? row.said, row.share, row.total, row.note])];
    }
    const [referenced, redrawn] = [Boolean(rows[0].reference), Boolean(rows[0].low)];
    const more = (name) => columns.map((column) => `${name} ${column}`);
    const head = ["variable", ...columns, "length", ...(referenced ? more("reference") : []), ...(redrawn ? [...more("low"), ...more("high")] : [])];
    return [head, ...rows.map((row) => [row.variable, ...row.values, row.length, ...(referenced ? row.reference : []), ...(redrawn ? [...row.low, ...row.high] : [])])];
  }
}
