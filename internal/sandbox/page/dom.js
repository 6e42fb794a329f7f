// h creates an element. Strings become text, never markup.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  const absent = [undefined, null, false];
  element.append(...children.flat(Infinity).filter((child) => !absent.includes(child)));
  return element;
}

// The attribute of an element while its action runs. Updates keep it.
const busy = "aria-busy";

// show updates the children of a container. It keeps the elements that match, with their focus,
// scroll position and unfinished input.
function show(container, ...children) {
  const focused = document.activeElement;
  const ancestors = [];
  for (let node = focused; node && container.contains(node); node = node.parentElement) ancestors.push(node);
  patchChildren(container, h("div", {}, ...children));
  if (ancestors.length > 0 && !document.contains(focused)) {
    const survivor = ancestors.find((node) => document.contains(node) && node.hasAttribute("tabindex"));
    if (survivor) survivor.focus({ preventScroll: true });
  }
}

function patch(old, updated) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== updated.data) old.data = updated.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!updated.hasAttribute(name) && name !== busy) old.removeAttribute(name);
  }
  for (const { name, value } of [...updated.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  patchChildren(old, updated);
  if (old.hasAttribute("data-value") && !old.hasAttribute(busy) && !beingEdited(old)) setValue(old);
}

function beingEdited(control) {
  return control === document.activeElement && control.type !== "checkbox";
}

// setValue sets the value of a control from data-value, because its value attribute is only the initial one.
function setValue(control) {
  const value = control.getAttribute("data-value");
  if (control.type === "checkbox") control.checked = value === "true";
  else if (control.value !== value) control.value = value;
}

function patchChildren(old, updated) {
  const wanted = new Map([...updated.childNodes].map((node, i) => [keyOf(node, i), node]));
  const kept = new Map();
  [...old.childNodes].forEach((node, i) => {
    const key = keyOf(node, i);
    if (wanted.has(key) && !kept.has(key)) kept.set(key, node);
    else node.remove();
  });
  let place = old.firstChild;
  for (const [key, node] of wanted) {
    const match = kept.get(key);
    if (!match) {
      old.insertBefore(node, place);
      for (const control of [node, ...(node.querySelectorAll?.("[data-value]") || [])]) {
        if (control.hasAttribute?.("data-value")) setValue(control);
      }
      continue;
    }
    if (match === place) place = place.nextSibling;
    else old.insertBefore(match, place);
    patch(match, node);
  }
}

// keyOf identifies an element among its siblings: by data-key, else by position and kind.
function keyOf(node, i) {
  return node.dataset?.key ? `${node.nodeName}:${node.dataset.key}` : `${node.nodeName}#${i}`;
}
