const page = { data: null, shown: {}, refreshing: null, again: false };
const refreshInterval = 1000; // milliseconds

const byId = (id) => document.getElementById(id);
const filter = () => byId("dialects-filter").value.trim().toLowerCase();
const changedSwitches = (data) => data.dialects.filter((one) => one.value !== one.values[0]).length;
const requests = (data) => Object.values(data.statistics.operations).reduce((sum, one) => sum + one.requests, 0);

// The parts of the page: element id, render function, and the data whose change needs a new render.
const parts = [
  ["controls", controls, (d) => [d.now, d.autoplay, d.account]],
  ["mailbox", mailbox, (d) => [d.emails, d.applications.map((app) => app.id), minute(d.now)]],
  ["mailbox-count", (d) => String(d.totals.emails), (d) => d.totals.emails],
  ["applications", applications, (d) => [d.applications, minute(d.now)]],
  ["applications-count", (d) => String(d.totals.applications), (d) => d.totals.applications],
  ["dialects", (d) => dialects(d, filter()), (d) => [d.dialects, filter()]],
  ["dialects-count", (d) => `${changedSwitches(d)} changed`, changedSwitches],
  ["faults", faults, (d) => d.faults],
  ["faults-count", (d) => `${d.faults.length} pending`, (d) => d.faults.length],
  ["deliveries", deliveries, (d) => d.deliveries],
  ["deliveries-count", (d) => String(d.totals.deliveries), (d) => d.totals.deliveries],
  ["statistics", statistics, (d) => d.statistics],
  ["statistics-count", (d) => plural(requests(d), "request"), requests],
];

// minute limits the updates of relative times to one a minute.
function minute(now) {
  return Math.floor(new Date(now) / 60_000);
}

function draw() {
  for (const [id, render, source] of parts) {
    const state = JSON.stringify(source(page.data));
    if (page.shown[id] === state) continue;
    page.shown[id] = state;
    show(byId(id), render(page.data));
  }
}

function showMessage(text, isError) {
  const message = byId("message");
  message.textContent = text;
  message.classList.toggle("error", Boolean(isError));
}

async function refresh() {
  try {
    const data = await fetchJSON("GET", "/overview");
    if (page.again) return; // an action can be newer than this data
    page.data = data;
    byId("connection").textContent = "";
    document.body.classList.remove("stale");
  } catch {
    byId("connection").textContent = "The sandbox does not respond. Retrying.";
    document.body.classList.add("stale");
    return;
  }
  draw();
}

// load runs one refresh at a time, and another one if it is needed meanwhile.
function load() {
  if (page.refreshing) {
    page.again = true;
    return page.refreshing;
  }
  page.refreshing = refresh().finally(() => {
    page.refreshing = null;
    if (page.again) {
      page.again = false;
      load();
    }
  });
  return page.refreshing;
}

async function runAction(name, element) {
  if (element.hasAttribute(busy)) return;
  element.setAttribute(busy, "true");
  try {
    const text = await actions[name](JSON.parse(element.dataset.args || "{}"), element.dataset.words, element);
    if (text) showMessage(text);
  } catch (error) {
    showMessage(`Failed: ${error.message}`, true);
    page.shown = {}; // a field may show a rejected value
    element.blur();
  } finally {
    element.removeAttribute(busy);
    await load();
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-act]");
  if (button) runAction(button.dataset.act, button);
  const link = event.target.closest("[data-jump]");
  const target = link && byId(link.dataset.jump);
  if (target) {
    event.preventDefault();
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  }
});
document.addEventListener("change", (event) => {
  if (event.target.dataset.change) runAction(event.target.dataset.change, event.target);
});
document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target.dataset.submit) runAction(event.target.dataset.submit, event.target);
});
byId("dialects-filter").addEventListener("input", () => page.data && draw());
document.addEventListener("visibilitychange", () => document.hidden || load());

load();
setInterval(() => document.hidden || page.refreshing || load(), refreshInterval);
