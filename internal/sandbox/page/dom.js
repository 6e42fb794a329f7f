// h makes an element. Text goes in as text, never as markup.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

// What an element says while its action is under way, which drawing it again must not take back.
const busy = "aria-busy";

// show makes the children of a container equal to fresh ones and keeps every element that can
// stay, so that neither focus nor scroll position nor half-typed text is lost.
function show(container, ...fresh) {
  const focused = document.activeElement;
  const ancestors = [];
  for (let node = focused; node && container.contains(node); node = node.parentElement) ancestors.push(node);
  patchChildren(container, h("div", {}, ...fresh));
  if (ancestors.length > 0 && !document.contains(focused)) {
    const survivor = ancestors.find((node) => document.contains(node) && node.hasAttribute("tabindex"));
    if (survivor) survivor.focus({ preventScroll: true });
  }
}

function patch(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== busy) old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  patchChildren(old, fresh);
  if (old.hasAttribute("data-value") && !old.hasAttribute(busy) && !beingEdited(old)) setValue(old);
}

function beingEdited(control) {
  return control === document.activeElement && control.type !== "checkbox";
}

// setValue brings a control to what data-value says: its own attribute is only where it began.
function setValue(control) {
  const value = control.getAttribute("data-value");
  if (control.type === "checkbox") control.checked = value === "true";
  else if (control.value !== value) control.value = value;
}

function patchChildren(old, fresh) {
  const wanted = new Map([...fresh.childNodes].map((node, i) => [keyOf(node, i), node]));
  const kept = new Map();
  [...old.childNodes].forEach((node, i) => {
    const key = keyOf(node, i);
    if (wanted.has(key) && !kept.has(key)) kept.set(key, node);
    else node.remove();
  });
  let place = old.firstChild;
  for (const [key, node] of wanted) {
    const stays = kept.get(key);
    if (!stays) {
      old.insertBefore(node, place);
      for (const control of [node, ...(node.querySelectorAll?.("[data-value]") || [])]) {
        if (control.hasAttribute?.("data-value")) setValue(control);
      }
      continue;
    }
    if (stays === place) place = place.nextSibling;
    else old.insertBefore(stays, place);
    patch(stays, node);
  }
}

// keyOf tells which element of an older list is the same one: by data-key, else by place and kind.
function keyOf(node, i) {
  return node.dataset?.key ? `${node.nodeName}:${node.dataset.key}` : `${node.nodeName}#${i}`;
}
