function controls({ now, autoplay, account: shown, accounts }) {
  const offset = new Date(now) - Date.now();
  const difference = Math.abs(offset) > 90_000 &&
    `${distance(now, new Date())} ${offset > 0 ? "later than" : "earlier than"} this machine`;
  const advance = (label, days) =>
    h("button", {
      type: "button", "data-act": "advance", "data-args": JSON.stringify({ seconds: days * 86_400 }),
      "aria-label": `Advance the clock by ${label}`,
    }, `+ ${label}`);
  return [
    accounts.length > 1 && h("label", { class: "control" }, h("span", { class: "label" }, "Account"), " ",
      h("select", { id: "account", "data-change": "account", "data-value": shown },
        accounts.map((value) => h("option", { value }, value)))),
    h("div", { class: "control", role: "group", "aria-label": "Clock" },
      h("span", { class: "label" }, "Clock"), h("span", { class: "now" }, time(now)),
      difference && h("span", { class: "muted" }, difference),
      advance("1 day", 1), advance("1 week", 7), advance("8 weeks", 56),
      difference && h("button", { type: "button", "data-act": "resetClock" }, "Use the time of this machine")),
    h("div", { class: "control", role: "group", "aria-label": "Autoplay" },
      h("label", { class: "check" },
        h("input", {
          type: "checkbox", role: "switch", id: "autoplay",
          "data-change": "autoplay", "data-value": String(autoplay.enabled),
        }),
        h("span", { class: "label" }, "Autoplay"), "plays the individuals,"),
      h("label", {}, "one step every ",
        h("input", {
          type: "number", min: "1", max: "3600000", id: "autoplay-delay",
          "data-change": "autoplayDelay", "data-value": autoplay.delay_ms,
        }), " ms")),
  ];
}

function faults({ faults: pending }) {
  if (pending.length === 0) return empty("No pending faults.");
  const faultRow = (fault, i) => h("tr", { "data-key": i },
    h("td", {}, fault.operation === "*" ? "any operation" : fault.operation),
    h("td", {}, fault.kind, fault.after_work ? ", after carrying out the request" : ""),
    h("td", {}, fault.times === -1 ? "always" : String(fault.times)),
    h("td", {}, [
      fault.status && `status ${fault.status}`, fault.delay_ms && `${fault.delay_ms} ms`,
      fault.retry_after && `Retry-After ${fault.retry_after}`,
    ].filter(Boolean).join(", ")));
  return [
    table("Faults", ["Operation", "Kind", "Times", "Details"], pending.map(faultRow)),
    h("p", {}, h("button", { type: "button", "data-act": "clearFaults" }, "Remove all faults")),
  ];
}

function deliveries({ deliveries: log, totals }) {
  if (log.length === 0) return empty("No deliveries yet. They need a subscription and a later event.");
  const last = (status) => (status ? `, last ${status}` : "");
  const deliveryRow = (delivery) => h("tr", { "data-key": delivery.sequence },
    h("td", {}, time(delivery.time)), h("td", {}, h("code", {}, delivery.event)),
    h("td", {}, String(delivery.application_id)),
    h("td", { class: "break" }, delivery.url), h("td", {}, pill(delivery.state)),
    h("td", {}, plural(delivery.attempts, "attempt") + last(delivery.last_status)));
  return [
    table("Webhook deliveries", ["Time", "Event", "Application", "Target", "State", "Attempts"], log.map(deliveryRow)),
    truncationHint(log.length, totals.deliveries),
  ];
}

function statistics({ statistics: { logins, operations } }) {
  const names = Object.keys(operations).sort();
  if (names.length === 0) return empty("No requests yet.");
  const operationRow = (name) => h("tr", { "data-key": name },
    h("td", {}, h("code", {}, name)), h("td", { class: "number" }, String(operations[name].requests)),
    h("td", {}, Object.entries(operations[name].answers).sort().map(([status, n]) =>
      h("span", { class: "answer", "data-key": status }, `${status} × ${n}`))));
  return [
    h("p", {}, plural(logins, "token"), " issued."),
    table("Requests per operation", ["Operation", "Requests", "Responses"], names.map(operationRow)),
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
    : h("select", attributes, one.values.map((value, i) =>
      h("option", { value }, i === 0 ? `${value} (default)` : value)));
  return h("div", { class: changed ? "switch changed" : "switch", "data-key": one.name },
    h("label", { for: `dialect-${one.name}` }, h("code", {}, one.name)), field,
    h("p", { class: "muted", id: `about-${one.name}` }, one.meaning));
}

function dialects({ dialects: switches }, wanted) {
  const matches = switches.filter((one) =>
    `${one.name} ${one.meaning} ${one.values.join(" ")}`.toLowerCase().includes(wanted));
  if (matches.length === 0) return empty("No switch matches.");
  const groups = [...new Set(matches.map((one) => one.group))];
  return groups.map((group) => h("fieldset", { "data-key": group },
    h("legend", {}, group),
    h("div", { class: "switches" }, matches.filter((one) => one.group === group).map(dialectSwitch))));
}
