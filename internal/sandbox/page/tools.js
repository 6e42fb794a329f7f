function controls({ now, autoplay }) {
  const ahead = new Date(now) - Date.now();
  const off = Math.abs(ahead) > 90_000 && `${distance(now, new Date())} ${ahead > 0 ? "ahead of" : "behind"} this machine`;
  const advance = (label, days) =>
    h("button", { type: "button", "data-act": "advance", "data-args": JSON.stringify({ seconds: days * 86_400 }), "aria-label": `Advance the clock by ${label}` }, `+ ${label}`);
  return [
    h("div", { class: "control", role: "group", "aria-label": "Clock" },
      h("span", { class: "label" }, "Clock"), h("span", { class: "now" }, time(now)), off && h("span", { class: "muted" }, off),
      advance("1 day", 1), advance("1 week", 7), advance("8 weeks", 56),
      off && h("button", { type: "button", "data-act": "resetClock" }, "Back to this machine's time")),
    h("div", { class: "control", role: "group", "aria-label": "Autoplay" },
      h("label", { class: "check" },
        h("input", { type: "checkbox", role: "switch", id: "autoplay", "data-change": "autoplay", "data-value": String(autoplay.enabled) }),
        h("span", { class: "label" }, "Autoplay"), "the people act by themselves,"),
      h("label", {}, "one step every ",
        h("input", { type: "number", min: "1", max: "3600000", id: "autoplay-delay", "data-change": "autoplayDelay", "data-value": autoplay.delay_ms }), " ms")),
  ];
}

function faults({ faults: waiting }) {
  if (waiting.length === 0) return empty("No fault waits. Every request is answered as it should be.");
  const row = (fault, i) => h("tr", { "data-key": i },
    h("td", {}, fault.operation === "*" ? "any operation" : fault.operation),
    h("td", {}, fault.kind, fault.after_work ? ", after the work" : ""),
    h("td", {}, fault.times === -1 ? "every time" : many(fault.times, "time")),
    h("td", {}, [fault.status && `status ${fault.status}`, fault.delay_ms && `${fault.delay_ms} ms`, fault.retry_after && `Retry-After ${fault.retry_after}`]
      .filter(Boolean).join(", ")));
  return [
    table("Faults", ["Operation", "Kind", "Strikes", "Details"], waiting.map(row)),
    h("p", {}, h("button", { type: "button", "data-act": "clearFaults" }, "Remove all faults")),
  ];
}

function deliveries({ deliveries: calls, totals }) {
  if (calls.length === 0) return empty("No webhook was called yet. A client subscribes, then something has to happen.");
  const row = (call) => h("tr", { "data-key": call.sequence },
    h("td", {}, time(call.time)), h("td", {}, h("code", {}, call.event)), h("td", {}, String(call.application_id)),
    h("td", { class: "break" }, call.url), h("td", {}, pill(call.state)),
    h("td", {}, `${many(call.attempts, "attempt")}${call.last_status ? `, last ${call.last_status}` : ""}`));
  return [
    table("Webhook deliveries", ["Time", "Event", "Application", "Target", "State", "Attempts"], calls.map(row)),
    cut(calls.length, totals.deliveries),
  ];
}

function statistics({ statistics: { logins, operations } }) {
  const names = Object.keys(operations).sort();
  if (names.length === 0) return empty("Nothing was asked of the service yet.");
  const row = (name) => h("tr", { "data-key": name },
    h("td", {}, h("code", {}, name)), h("td", { class: "number" }, String(operations[name].requests)),
    h("td", {}, Object.entries(operations[name].answers).sort().map(([status, n]) => h("span", { class: "answer", "data-key": status }, `${status} × ${n}`))));
  return [
    h("p", {}, many(logins, "token"), " handed out."),
    table("Requests per operation", ["Operation", "Requests", "Answers"], names.map(row)),
  ];
}

function dialectSwitch(one) {
  const changed = one.value !== one.values[0];
  const attributes = {
    id: `dialect-${one.name}`, "data-change": "dialect", "data-args": JSON.stringify({ name: one.name }),
    "data-value": one.value, "aria-describedby": `about-${one.name}`,
  };
  const field = one.number
    ? h("input", { type: "number", min: "0", ...attributes })
    : h("select", attributes, one.values.map((value, i) => h("option", { value }, i === 0 ? `${value} (default)` : value)));
  return h("div", { class: changed ? "switch changed" : "switch", "data-key": one.name },
    h("label", { for: `dialect-${one.name}` }, h("code", {}, one.name)), field,
    h("p", { class: "muted", id: `about-${one.name}` }, one.meaning));
}

function dialects({ dialects: switches }, wanted) {
  const matches = switches.filter((one) => `${one.name} ${one.meaning} ${one.values.join(" ")}`.toLowerCase().includes(wanted));
  if (matches.length === 0) return empty("No switch is about that.");
  const groups = [...new Set(matches.map((one) => one.group))];
  return groups.map((group) => h("fieldset", { "data-key": group },
    h("legend", {}, group),
    h("div", { class: "switches" }, matches.filter((one) => one.group === group).map(dialectSwitch))));
}
