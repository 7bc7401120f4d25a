// The table beside a picture: sortable, with bars, its rows linked to the marks. Of loadings, or of components.

const BAR = { low: -1, high: 1 };

/** A small bar from zero, with ticks; `scale` says which values its ends stand for. */
function tableBar(width, value, { low, high } = BAR, { reference, even, whisker } = {}) {
  const at = (x) => Math.max(1, Math.min(width - 1, 2 + ((x - low) / (high - low)) * (width - 4)));
  const shape = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, text] of Object.entries(attributes)) made.setAttribute(key, text);
    return made;
  };
  const line = (name, x, y0, y1) => shape("path", { class: name, d: `M${x.toFixed(1)},${y0}V${y1}` });
  const svg = shape("svg", { width, height: 24, "aria-hidden": "true" });
  const [zero, end] = [at(0), at(value)];
  for (const mark of even ?? []) svg.append(line("even", at(mark), 0, 24));
  svg.append(shape("rect", { class: "bar", x: Math.min(zero, end), y: 8, width: Math.max(0.6, Math.abs(end - zero)), height: 8 }), line("zero", zero, 0, 24));
  if (whisker) svg.append(shape("path", { class: "whisker", d: `M${at(whisker[0]).toFixed(1)},12H${at(whisker[1]).toFixed(1)}`, style: "stroke: var(--dx-ink); stroke-width: 1.5" }));
  if (reference !== undefined) svg.append(line("reference", at(reference), 5, 19));
  return svg;
}

class LinkedTable {
  constructor(host, { onPoint, onPin, onLeave }) {
    Object.assign(this, { host, onPoint, onPin, onLeave });
    this.sorts = { loadings: { by: "length", down: true }, components: { by: "rank", down: false } };
  }

  get kind() { return this.data.half ? "loadings" : "components"; }

  draw(data, room) {
    this.data = data;
    this.room = room;
    const { heads, keys, cells, legend, caption } = this[this.kind]();
    const { by, down } = this.sorts[this.kind];
    const key = keys[by];
    const order = [...data.rows].sort((p, q) => (key(p) > key(q) ? 1 : key(p) < key(q) ? -1 : 0) * (down ? -1 : 1));
    const head = heads.map(({ by: name, text, title, width, class: type }) => {
      const chosen = name === by;
      const button = element("button", { type: "button", "data-by": name, title: title ?? "Sort", onclick: () => this.sortBy(name) }, text,
        element("span", { "aria-hidden": "true" }, chosen ? (down ? " ↓" : " ↑") : ""));
      return element("th", { scope: "col", class: type, style: width ? `width:${width}px` : null,
        "aria-sort": chosen ? (down ? "descending" : "ascending") : "none" }, button);
    });
    const body = order.map((row) => element("tr", { "data-variable": row.variable }, cells(row)));
    const scroll = element("div", { class: "scroll", tabindex: data.rows.length > 14 ? 0 : null, role: "region", "aria-label": caption },
      element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)));
    const focused = this.host.contains(document.activeElement) ? document.activeElement : null;
    const back = focused && (focused.dataset.by ?? focused.closest("tr")?.dataset.variable);
    const top = this.host.querySelector(".scroll")?.scrollTop ?? 0;
    this.host.replaceChildren(scroll, element("p", { class: "key" }, legend));
    scroll.scrollTop = top;
    for (const line of scroll.querySelectorAll("tbody tr[data-variable]")) {
      line.addEventListener("mouseenter", () => this.onPoint(line.dataset.variable));
      line.addEventListener("mouseleave", () => this.onLeave());
    }
    if (back !== null && back !== undefined) {
      [...this.host.querySelectorAll("th button, td .name")].find((b) => (b.dataset.by ?? b.closest("tr").dataset.variable) === back)?.focus({ preventScroll: true });
    }
  }

  /** Loadings on a pair of components, with the reference where there is one. */
  loadings() {
    const { columns, rows, half, even } = this.data;
    const name = Math.min(170, 22 + Math.max(44, ...rows.map((row) => row.text.length * 6.6)));
    const bar = this.room < 300 ? 0 : Math.round(Math.max(24, Math.min(150, (this.room - name - 60) / 2 - 50)));
    const whisker = (row, c) => (row.low ? [row.low[c], row.high[c]] : undefined);
    const within = (row, c) => whisker(row, c)?.map((end) => digits(end)).join(" to ");
    const number = (row, c) => element("td", { class: "number", title: row.low ? `90 % of redraws: ${within(row, c)}` : null }, element("span", {}, digits(row.values[c])),
      bar ? tableBar(bar, row.values[c], { low: -half, high: half }, { reference: row.reference?.[c], even: [-even, even], whisker: whisker(row, c) }) : null);
    return {
      caption: "Table of loadings",
      keys: { variable: (row) => row.text.toLowerCase(), 0: (row) => row.values[0], 1: (row) => row.values[1], length: (row) => row.length },
      heads: [
        { by: "variable", text: "Variable", class: "variable" },
        ...[0, 1].map((c) => ({ by: String(c), text: columns[c], class: "number", width: bar + 50 })),
        { by: "length", text: "Length", class: "length", title: "Distance from the origin in the plane of the two components" },
      ],
      cells: (row) => [
        element("td", {}, element("button", { type: "button", class: "name", title: row.about ? `${row.variable}: ${row.about}` : row.variable, "aria-pressed": "false",
          onclick: () => this.onPin(row.variable), onfocus: () => this.onPoint(row.variable), onblur: () => this.onLeave() }, row.text)),
        number(row, 0), number(row, 1), element("td", { class: "length" }, digits(row.length))],
      legend: [
        rows[0].reference ? element("span", {}, element("i", { class: "reference" }), "reference") : null,
        rows[0].low && bar ? element("span", { title: "How far the noise moves a loading when it is drawn again; sampling error is not in it" },
          element("i", { class: "whisker", style: "width: 14px; height: 2px; background: var(--dx-ink)" }), "90 % of redraws") : null,
        element("span", { title: "Length of a loading if all variables weighed the same" }, element("i", { class: "even" }), `1/√p = ${even.toFixed(2)}`)],
    };
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
      cells: (row) => [
        element("td", { class: "component", title: row.note || null }, row.text, row.note ? element("span", { class: "hint" }, row.hint) : null),
        element("td", { class: "length" }, row.said),
        element("td", { class: "number" }, element("span", { class: "wide" }, row.percent), bar ? tableBar(bar, row.share, { low: 0, high: 1 }, { even: [1 / p] }) : null),
        element("td", { class: "length" }, row.together)],
      legend: [
        element("span", {}, base),
        element("span", { title: "Share of each component if all had the same" }, element("i", { class: "even" }), `1/p = ${(100 / p).toFixed(1)} %`),
        ...unlisted.map((text) => element("span", {}, text))],
    };
  }

  sortBy(by) {
    const sort = this.sorts[this.kind];
    this.sorts[this.kind] = sort.by === by ? { by, down: !sort.down } : { by, down: !["variable", "rank"].includes(by) };
    this.draw(this.data, this.room);
  }

  mark(lit, pinned) {
    for (const row of this.host.querySelectorAll("tbody tr[data-variable]")) {
      const held = row.dataset.variable === pinned;
      row.classList.toggle("lit", row.dataset.variable === lit);
      row.classList.toggle("pinned", held);
      row.querySelector(".name").setAttribute("aria-pressed", String(held));
    }
  }

  /** Everything in the table, as lines of a CSV file. */
  lines() {
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
