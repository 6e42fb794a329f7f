const page = { data: null, shown: {}, refreshing: null, again: false };
const pause = 1000;

const byId = (id) => document.getElementById(id);
const filter = () => byId("dialects-filter").value.trim().toLowerCase();
const changedSwitches = (data) => data.dialects.filter((one) => one.value !== one.values[0]).length;
const requests = (data) => Object.values(data.statistics.operations).reduce((sum, one) => sum + one.requests, 0);

// What is drawn where, and of what: it is drawn again only when that has changed.
const parts = [
  ["controls", controls, (d) => [d.now, d.autoplay]],
  ["mailbox", mailbox, (d) => [d.emails, d.applications.map((app) => app.id), minute(d.now)]],
  ["mailbox-count", (d) => String(d.totals.emails), (d) => d.totals.emails],
  ["applications", applications, (d) => [d.applications, minute(d.now)]],
  ["applications-count", (d) => String(d.totals.applications), (d) => d.totals.applications],
  ["dialects", (d) => dialects(d, filter()), (d) => [d.dialects, filter()]],
  ["dialects-count", (d) => `${changedSwitches(d)} changed`, changedSwitches],
  ["faults", faults, (d) => d.faults],
  ["faults-count", (d) => `${d.faults.length} waiting`, (d) => d.faults.length],
  ["deliveries", deliveries, (d) => d.deliveries],
  ["deliveries-count", (d) => String(d.totals.deliveries), (d) => d.totals.deliveries],
  ["statistics", statistics, (d) => d.statistics],
  ["statistics-count", (d) => many(requests(d), "request"), requests],
];

// minute is coarse enough that relative times are not drawn again each second.
function minute(now) {
  return Math.floor(new Date(now) / 60_000);
}

function draw() {
  for (const [id, render, source] of parts) {
    const of = JSON.stringify(source(page.data));
    if (page.shown[id] === of) continue;
    page.shown[id] = of;
    show(byId(id), render(page.data));
  }
}

function say(text, isError) {
  const message = byId("message");
  message.textContent = text;
  message.classList.toggle("error", Boolean(isError));
}

async function refresh() {
  try {
    const data = await ask("GET", "/overview");
    if (page.again) return; // it may be older than what was done meanwhile
    page.data = data;
    byId("connection").textContent = "";
    document.body.classList.remove("stale");
  } catch {
    byId("connection").textContent = "The sandbox does not answer. Trying again.";
    document.body.classList.add("stale");
    return;
  }
  draw();
}

// One look at a time; who asks for one meanwhile gets another afterwards.
function look() {
  if (page.refreshing) {
    page.again = true;
    return page.refreshing;
  }
  page.refreshing = refresh().finally(() => {
    page.refreshing = null;
    if (page.again) {
      page.again = false;
      look();
    }
  });
  return page.refreshing;
}

async function act(name, element) {
  if (element.hasAttribute(busy)) return;
  element.setAttribute(busy, "true");
  try {
    const said = await actions[name](JSON.parse(element.dataset.args || "{}"), element.dataset.words, element);
    if (said) say(said);
  } catch (error) {
    say(`That did not work: ${error.message}`, true);
    page.shown = {}; // a field may show what was not accepted
    element.blur();
  } finally {
    element.removeAttribute(busy);
    await look();
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-act]");
  if (button) act(button.dataset.act, button);
  const link = event.target.closest("[data-jump]");
  const target = link && byId(link.dataset.jump);
  if (target) {
    event.preventDefault();
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  }
});
document.addEventListener("change", (event) => {
  if (event.target.dataset.change) act(event.target.dataset.change, event.target);
});
document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target.dataset.submit) act(event.target.dataset.submit, event.target);
});
byId("dialects-filter").addEventListener("input", () => page.data && draw());
document.addEventListener("visibilitychange", () => document.hidden || look());

look();
setInterval(() => document.hidden || page.refreshing || look(), pause);
