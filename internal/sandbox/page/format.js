const tones = {
  "in progress": "info", queued: "info",
  "in review": "wait", resend: "wait", reset: "wait", blocked: "wait",
  completed: "good", passed: "good", manually_accepted: "good", delivered: "good",
  rejected: "bad", failed: "bad", manually_rejected: "bad", dropped: "bad",
};

function pill(text) {
  return h("span", { class: `pill ${tones[text] || "plain"}` }, text.replaceAll("_", " "));
}

const dateFormat = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric",
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: "UTC",
});

function time(iso) {
  return h("time", { datetime: iso }, `${dateFormat.format(new Date(iso))} UTC`);
}

const units = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000]];

// distance is the rounded time from now: "3 days", "1 hour", or "a moment".
function distance(iso, now) {
  const away = Math.abs(new Date(iso) - new Date(now));
  for (const [unit, length] of units) {
    const n = Math.round(away / length);
    if (n > 0) return `${n} ${unit}${n === 1 ? "" : "s"}`;
  }
  return "a moment";
}

function plural(n, one, more) {
  return `${n} ${n === 1 ? one : more || `${one}s`}`;
}

function truncationHint(shown, total) {
  return total > shown ? h("p", { class: "hint" }, `The newest ${shown} of ${total}.`) : null;
}

function empty(text) {
  return h("p", { class: "empty" }, text);
}

function table(label, columns, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h("table", {},
      h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows)));
}
