// Native controls: every one labelled, reachable by keyboard, and quiet about styling.

/** Make an element. Attributes that start with "on" are listeners; false, null and undefined leave one out. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Give an element an attribute, or none for null, only where that changes it: a browser lays out anew what is set anew. */
function put(node, name, value) {
  if (value === null || value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Give an element without others in it a text, only where that changes it, and without a new node. */
function say(node, text) {
  if (!node.firstChild) node.append(text);
  else if (node.firstChild.data !== text) node.firstChild.data = text;
}

/** Sentences with `code` and **strong** words as nodes; nothing in them is ever read as HTML. */
function rich(text) {
  return text.split(/(\ue000[^\ue001]*\ue001|`[^`]*`|\*\*[^*]+\*\*)/).filter(Boolean).map((part) => {
    if (part.startsWith("\ue000")) return element("code", {}, part.slice(1, -1)); // the user's own words
    if (part.startsWith("`") && part.endsWith("`") && part.length > 2) return element("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return element("b", {}, part.slice(2, -2));
    return document.createTextNode(part);
  });
}

/** What calls back once the browser has painted; a newer call takes the place of one that waits. */
function later() {
  let [frame, timer] = [0, 0];
  return (action) => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = requestAnimationFrame(() => { timer = setTimeout(action); });
  };
}

/** A caption, a sentence that explains it, and the control it names. */
const captioned = (caption, title, ...controls) => element("div", { class: "field", title }, element("span", { class: "caption" }, caption), ...controls);

/** A select whose options can change; `set` offers options and chooses one without calling back. */
function select(label, onchange) {
  const made = element("select", { "aria-label": label, onchange: () => onchange(made.value) });
  return {
    element: made,
    set(options, value) {
      const wanted = JSON.stringify(options);
      if (made.dataset.options !== wanted) {
        made.dataset.options = wanted;
        made.replaceChildren(...options.map(([key, text]) => element("option", { value: key }, text)));
      }
      if (made.value !== String(value)) made.value = String(value);
    },
  };
}

/** A group of radio buttons that looks like one control. */
function choice(name, legend, options, onchange) {
  const inputs = options.map(([value]) => element("input", { type: "radio", name, value, onchange: () => onchange(value) }));
  const made = element("fieldset", { class: "choice" }, element("legend", { class: "spoken" }, legend),
    options.map(([, text], i) => element("label", {}, inputs[i], element("span", {}, text))));
  return { element: made, set(value) { for (const input of inputs) input.checked = input.value === value; } };
}

/** A slider over given steps, of which some are named under it; `onstep` is told the step and whether it is still held. */
function stepper(label, named, onstep) {
  let steps = [];
  const step = () => steps[Number(input.value)];
  const show = (text) => {
    input.style.setProperty("--at", Math.max(0, Math.min(1, Number(input.value) / (steps.length - 1))));
    input.setAttribute("aria-valuetext", text);
  };
  const moved = (held) => { show(step().text); onstep(step(), held); };
  const input = element("input", { type: "range", min: 0, step: 1, "aria-label": label, oninput: () => moved(true), onchange: () => moved(false) });
  const ticks = element("div", { class: "ticks", "aria-hidden": "true" });
  return {
    element: element("div", { class: "stepper" }, input, ticks),
    /** Stand at a value, or at the step nearest to it. */
    set(options, value, text) {
      steps = options;
      const distance = (one) => Math.abs(Math.log(one.value / value));
      const nearest = steps.reduce((best, one, i) => (distance(one) < distance(steps[best]) ? i : best), 0);
      input.max = steps.length - 1;
      input.value = nearest;
      show(text ?? steps[nearest].text);
      if (!ticks.childElementCount) {
        ticks.append(...steps.map((one, i) => [one, i]).filter(([one]) => named.includes(one.value))
          .map(([one, i]) => element("span", { style: `--at:${i / (steps.length - 1)}` }, String(one.value))));
      }
    },
  };
}

/** A button that says for a moment that it has done its work. */
function actionButton(text, label, done, action) {
  const made = element("button", { type: "button", class: "quiet", title: label, "aria-label": label });
  made.textContent = text;
  made.addEventListener("click", async () => {
    made.textContent = (await Promise.resolve().then(action).catch(() => false)) ? done : "Failed";
    setTimeout(() => { made.textContent = text; }, 1200);
  });
  return made;
}

/** Hand a file to the reader. */
function save(href, name) {
  element("a", { href, download: name }).click();
  return true;
}

/** Copy text, also where the clipboard is closed to scripts. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { style: "position: fixed; opacity: 0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

/** One field of a CSV file. */
const csvField = (value) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
