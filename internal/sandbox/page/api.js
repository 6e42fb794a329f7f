const control = document.body.dataset.control;

// parse keeps integers that JavaScript cannot hold as their digits: ids may be that large.
function parse(text) {
  return JSON.parse(text, (name, value, context) =>
    typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER && context?.source ? context.source : value);
}

let account = ""; // the one that the page is about; the first one if it is empty

async function fetchJSON(method, path, body) {
  const query = account && `?account=${encodeURIComponent(account)}`;
  const response = await fetch(control + path + query, {
    method, body, cache: "no-store", headers: body === undefined ? {} : { "Content-Type": "application/json" },
  });
  const text = await response.text();
  if (!response.ok) {
    let problem = text;
    try { problem = JSON.parse(text).error; } catch { /* not from the control API */ }
    throw new Error(problem || `status ${response.status}`);
  }
  return text ? parse(text) : null;
}

// The actions of buttons and fields. Each returns a message, or nothing.
const actions = {
  async play({ application, ...play }, words) {
    // The id goes in as digits: it may be too large for a number.
    const body = `{"application_id":${BigInt(application)},${JSON.stringify(play).slice(1)}`;
    const after = await fetchJSON("POST", "/play", body);
    return `${words}. The application is ${after.state}.`;
  },
  async advance({ seconds }) {
    await fetchJSON("POST", "/clock/advance", JSON.stringify({ seconds }));
    return "The clock is moved.";
  },
  async resetClock() {
    await fetchJSON("PUT", "/clock", JSON.stringify({ now: new Date().toISOString() }));
    return "The clock shows this machine's time.";
  },
  async autoplay(_, words, input) {
    await fetchJSON("PUT", "/autoplay", JSON.stringify({ enabled: input.checked }));
    return input.checked ? "Autoplay is on." : "Autoplay is off.";
  },
  async autoplayDelay(_, words, input) {
    await fetchJSON("PUT", "/autoplay", JSON.stringify({ delay_ms: Number(input.value) }));
    return `Autoplay takes one step every ${input.value} ms.`;
  },
  async dialect({ name }, words, input) {
    await fetchJSON("PUT", "/dialects", JSON.stringify({ [name]: input.value }));
    return `${name} is ${input.value}.`;
  },
  async resetDialects() {
    await fetchJSON("DELETE", "/dialects");
    return "All switches have their defaults.";
  },
  async addFault(_, words, form) {
    const given = Object.fromEntries(new FormData(form));
    await fetchJSON("POST", "/faults", JSON.stringify({
      operation: given.operation, kind: given.kind, after_work: given.after_work === "on",
      times: Number(given.times), delay_ms: Number(given.delay_ms), status: Number(given.status),
      retry_after: given.retry_after,
    }));
    return "The fault is added.";
  },
  async clearFaults() {
    await fetchJSON("DELETE", "/faults");
    return "All faults are removed.";
  },
  async resetStats() {
    await fetchJSON("DELETE", "/stats");
    return "The counts are reset.";
  },
  async account(_, words, input) {
    account = input.value;
    return `The page is about the account ${account}.`;
  },
  async revokeTokens() {
    const { revoked } = await fetchJSON("POST", "/tokens/revoke");
    return `${plural(revoked, "token")} revoked.`;
  },
  async resetAll() {
    if (!confirm("Remove all applications, e-mails, subscriptions, faults and settings?")) return "";
    await fetchJSON("POST", "/reset");
    return "The sandbox is reset.";
  },
};
