"""What a reader sees of an explorer, read off the page: marks by role, boxes, colours, controls.

Vega hangs its scene item on every SVG node, so a mark is found by the role and variable of its row, not by its place
in the specification.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager

HELPERS = """
window.dx = {
  root: (view) => document.querySelectorAll('.dppca')[view],
  items: (root) => [...root.querySelectorAll('.chart svg *')]
    .map((node) => [node, node.__data__]).filter(([, item]) => item?.datum && item.mark?.marktype !== 'group'),
  marks: (root, role, type) => dx.items(root)
    .filter(([, item]) => item.datum.role === role && (!type || item.mark.marktype === type)),
  frame: (node) => {   // the panel that a mark lies in
    let at = node;
    while (!at.parentNode.classList.contains('role-scope')) at = at.parentNode;
    return at.querySelector(':scope > path.background').getBoundingClientRect();
  },
  rgb: (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number),
  light: (colour) => dx.rgb(colour).slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0),
  contrast: (p, q) => (Math.max(dx.light(p), dx.light(q)) + 0.05) / (Math.min(dx.light(p), dx.light(q)) + 0.05),
  behind: (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor, alpha = dx.rgb(colour)[3];
      if (alpha === undefined || alpha > 0.5) return colour;
    }
    return 'rgb(255, 255, 255)';
  },
};
"""

# Steps the slider through every budget and compares the boxes that the browser gives to labels and notes.
WALK = """async (view) => {
  const root = dx.root(view), slider = root.querySelector('input[type=range]');
  const overlaps = [], outside = [], texts = [], sides = new Set();
  for (let step = 0; step <= Number(slider.max); step += 1) {
    slider.value = step;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    const wanted = root.querySelector('.big').textContent.replace('ε = ', 'ε ') + ' (';
    const end = performance.now() + 15000;
    while (!root.querySelector('.chart svg').textContent.includes(wanted)) {
      if (performance.now() > end) throw new Error(`never drawn: ${wanted}`);
      await new Promise((resume) => setTimeout(resume, 4));
    }
    const seen = dx.items(root).filter(([, item]) => item.mark.marktype === 'text' && !item.stroke
      && (item.datum.role === 'note' || (item.datum.role === 'label' && item.datum.vis)));
    const boxes = seen.map(([node, { datum }]) =>
      [node.getBoundingClientRect(), datum.text, datum.role, dx.frame(node)]);
    boxes.forEach(([p, text, role, frame], i) => {
      texts.push(`${role} ${text}`);
      sides.add(Math.round(frame.width));
      for (const [q, other] of boxes.slice(0, i)) {
        if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1
            && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 2)
          overlaps.push([wanted, text, other]);
      }
      if (p.left < frame.left - 1 || p.right > frame.right + 23 || p.top < frame.top - 2 || p.bottom > frame.bottom + 2)
        outside.push([wanted, text]);
    });
  }
  slider.dispatchEvent(new Event('change', { bubbles: true }));
  return { overlaps, outside, labels: texts.filter((text) => text.startsWith('label')).length,
    notes: texts.filter((text) => text.startsWith('note')).length, sides: [...sides] };
}"""

# Every text that can be seen, with its contrast on what lies behind it.
CONTRASTS = """(view) => {
  const root = dx.root(view), found = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement, box = node.getBoundingClientRect();
    if (!text.data.trim() || !box.width || !box.height || node.closest('svg, .spoken, option, [hidden]')) continue;
    found.push([text.data.trim(), dx.contrast(getComputedStyle(node).color, dx.behind(node))]);
  }
  for (const node of root.querySelectorAll('select, input[type=number]'))
    found.push([node.value, dx.contrast(getComputedStyle(node).color, dx.behind(node))]);
  for (const node of root.querySelectorAll('.chart svg text')) {
    const style = getComputedStyle(node), item = node.__data__;
    if (!node.textContent || style.stroke !== 'none' || style.opacity === '0' || item?.opacity === 0) continue;
    found.push([node.textContent, dx.contrast(style.fill, dx.behind(root))]);
  }
  return found;
}"""

# Areas of the widget that are painted light: none in a dark theme.
LIGHT_AREAS = """(view) => {
  const root = dx.root(view), found = [];
  for (const node of root.querySelectorAll('*')) {
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    const svg = node instanceof SVGElement;
    const colour = svg && node.tagName !== 'svg' ? style.fill : style.backgroundColor;
    if (!colour.startsWith('rgb') || dx.rgb(colour)[3] === 0) continue;
    if (node.tagName === 'text' || style.opacity === '0') continue;
    if (svg && (Number(style.fillOpacity) === 0 || !node.getAttribute('fill'))) continue;
    if (box.width * box.height > 400 && dx.light(colour) > 0.4)
      found.push(`${node.tagName}.${node.getAttribute('class')} ${colour}`);
  }
  return found;
}"""


class ExplorerPage:
    """One view of the explorer that the kernel calls ``explorer``."""

    def __init__(self, notebook, view: int = 0):
        self.notebook, self.page, self.view = notebook, notebook.page, view
        self.root = self.page.locator(".dppca").nth(view)
        self.slider = self.root.get_by_role("slider")
        self.page.evaluate(HELPERS)

    # ----- waiting -----

    def settle(self, name: str = "explorer", seconds: float = 20) -> None:
        """Wait until the page has drawn what the kernel shows."""
        end = time.monotonic() + seconds
        while (drawn := self.root.get_attribute("data-drawn")) != (
            wanted := self.notebook.eval(f"{name}._frame['code']")
        ):
            assert time.monotonic() < end, f"drawn: {drawn}\nwanted: {wanted}"
            time.sleep(0.03)

    def waits(self, expression: str, arg: object = None) -> None:
        """Wait until a JavaScript expression of ``root`` and ``arg`` is true."""
        self.page.wait_for_function(
            f"([view, arg]) => {{ const root = dx.root(view); return {expression}; }}", arg=[self.view, arg]
        )

    def read(self, expression: str, arg: object = None) -> object:
        """Value of a JavaScript expression of ``root`` and ``arg``."""
        return self.page.evaluate(
            f"([view, arg]) => {{ const root = dx.root(view); return {expression}; }}", [self.view, arg]
        )

    def check(self, script: str) -> object:
        """Run one of the scripts above on this view."""
        return self.page.evaluate(script, self.view)

    # ----- reading -----

    def marks(self, role: str, kind: str = "symbol") -> dict[str, list[float]]:
        """Place on the page of the marks of one role, by variable."""
        rows = self.read(
            f"dx.marks(root, {json.dumps(role)}, {json.dumps(kind)}).map(([node, item]) => "
            "[item.datum.variable, Math.round(item.x * 10) / 10, Math.round(item.y * 10) / 10])"
        )
        return {name: place for name, *place in rows}

    def labels(self) -> list[str]:
        """Labels that can be seen."""
        return self.read(
            "dx.marks(root, 'label', 'text').filter(([, item]) => item.datum.vis && !item.stroke)"
            ".map(([, item]) => item.text)"
        )

    def words(self) -> str:
        """All words in the picture."""
        return self.read("root.querySelector('.chart svg').textContent")

    def brand(self) -> None:
        """Leave a mark on the SVG node and its marks: a picture that is embedded again loses it."""
        self.read("root.querySelector('.chart svg').branded = true")

    @property
    def branded(self) -> bool:
        return self.read("root.querySelector('.chart svg').branded === true")

    def width(self, pixels: int | None) -> None:
        """Give the view a width of its own and wait until the picture has followed."""
        self.read("root.style.width = arg ?? ''", None if pixels is None else f"{pixels}px")
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.waits(
            "root.clientWidth && root.querySelector('.chart svg').getBoundingClientRect().right"
            " <= root.getBoundingClientRect().right + 1"
        )
        self.settle()

    # ----- acting -----

    def plot(self, name: str) -> None:
        """Choose a plot type with the mouse."""
        self.root.get_by_role("radio", name=name).click()
        self.settle_on("kind", {"Vectors": "vector", "Loadings": "vector", "Points": "point"}.get(name, name.lower()))

    def settle_on(self, trait: str, value: object) -> None:
        """Wait until the kernel has a setting and the page has drawn it."""
        # cells and widgets have threads of their own in the kernel: a setting may be there before its frame is
        self.notebook.until(
            f"explorer._frame.get('controls', {{}})['settings'].get({trait!r}, explorer.{trait})", value
        )
        self.settle()


@contextmanager
def showing(notebook, setup: str):
    """Give a function that shows explorers in a notebook of three cells; nothing may go wrong meanwhile."""
    notebook.errors.clear()

    def put(*cells: str, settle: bool = True) -> list[ExplorerPage]:
        notebook.put(setup, *cells, *[""] * (2 - len(cells)))
        views = [ExplorerPage(notebook, view) for view in range(len([cell for cell in cells if cell]))]
        for view in views:
            view.root.wait_for()
            if settle:
                view.settle()
        return views

    yield put
    notebook.theme("JupyterLab Light")
    assert notebook.external == []
    assert notebook.errors == []
