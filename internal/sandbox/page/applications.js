const concluded = new Set(["completed", "rejected"]);
const results = [["pass", "Pass", "Pass all"], ["fail", "Fail", "Fail all"], ["review", "To review", "All to review"]];

// isOpen is true for a check that the individual can still finish.
const isOpen = (check) => check.state === "pending" || check.state === "in review";
const nameOf = (person) => person.name || person.reference || `Individual ${person.id}`;

function playButton(label, args, about, kind) {
  const words = `${label}: ${about}`;
  return h("button", {
    type: "button", class: kind, "data-act": "play", "data-args": JSON.stringify(args), "data-words": words,
    "aria-label": words,
  }, label);
}

function resultButtons(args, about, all) {
  return h("div", { class: "buttons", role: "group", "aria-label": about },
    results.map(([result, one, every]) => playButton(all ? every : one, { ...args, result }, about, result)));
}

function check(app, person, one, done) {
  const args = { application: String(app.id), individual: String(person.id), step: "finish_checks", check: one.name };
  return h("li", { class: "check-row", "data-key": one.name },
    h("span", { class: "check-name" }, one.title), pill(one.state),
    !done && isOpen(one) ? resultButtons(args, `${one.title} of ${nameOf(person)}`) : null);
}

function steps(app, person) {
  const args = { application: String(app.id), individual: String(person.id) };
  const name = nameOf(person);
  const due = person.checks.some((one) => one.state === "pending");
  return h("div", { class: due ? "steps due" : "steps" },
    person.terms_accepted
      ? h("span", { class: "done" }, "✓ Terms accepted")
      : playButton("Accept terms", { ...args, step: "accept_terms" }, name),
    person.actions_completed
      ? h("span", { class: "done" }, "✓ Actions completed")
      : playButton("Complete actions", { ...args, step: "complete_actions" }, name),
    person.checks.some(isOpen)
      ? resultButtons({ ...args, step: "finish_checks" }, `all checks of ${name}`, true)
      : null);
}

function person(app, one) {
  const done = concluded.has(app.state);
  return h("li", { class: "person", id: `person-${one.id}`, "data-key": one.id, tabindex: "-1" },
    h("div", { class: "head" }, h("h4", { class: "break" }, nameOf(one)), pill(one.state)),
    h("p", { class: "muted break" },
      [one.email || "no e-mail address", one.name && one.reference].filter(Boolean).join(" · ")),
    done ? null : steps(app, one),
    h("ul", { class: "checks" }, one.checks.map((c) => check(app, one, c, done))));
}

// nextStep says what the client does next, when the individuals have nothing left to do.
function nextStep(app) {
  if (concluded.has(app.state)) return "The application is concluded.";
  if (app.state !== "in review") return null;
  const undecided = app.individuals.some((one) => one.checks.some((c) => c.state === "in review"));
  return undecided
    ? "Next: the client accepts or rejects the checks in review, then completes or rejects the application."
    : "Next: the client completes or rejects the application.";
}

function application(app, now) {
  const next = nextStep(app);
  const args = { application: String(app.id), step: "finish_checks" };
  const open = !concluded.has(app.state) && app.individuals.length > 1 &&
    app.individuals.some((one) => one.checks.some(isOpen));
  return h("li", { class: "card", id: `application-${app.id}`, "data-key": app.id, tabindex: "-1" },
    h("div", { class: "head" },
      h("h3", { class: "break" }, app.name),
      h("div", { class: "pills" }, app.archived && pill("archived"), pill(app.state))),
    h("p", { class: "muted break" },
      app.mandate_type, app.reference && [" · ", h("code", {}, app.reference)], ` · id ${app.id}`),
    h("p", { class: "muted" },
      "Created ", time(app.created_time), `, kept for another ${distance(app.expiry_time, now)}`),
    next && h("p", { class: "next" }, next),
    open
      ? h("div", { class: "everybody" },
        h("span", { class: "muted" }, "Everybody"), resultButtons(args, `everybody of ${app.name}`, true))
      : null,
    h("ul", { class: "people" }, app.individuals.map((one) => person(app, one))));
}

function example() {
  const base = location.origin + document.body.dataset.api;
  return h("div", { class: "empty" },
    h("p", {}, "No applications yet. Point your client at ", h("code", {}, location.origin),
      ", or run these commands, which use the default credentials:"),
    h("pre", { tabindex: "0", "aria-label": "Commands that create an application" }, h("code", {}, [
      `base=${base}`,
      "token=$(curl -s $base/ext/authentications/token \\",
      "  -d grant_type=password -d username=sandbox -d password=sandbox-password |",
      "  sed 's/.*\"access_token\":\"\\([^\"]*\\).*/\\1/')",
      "curl $base/ext/applications -H \"Authorization: Bearer $token\" \\",
      "  -H 'Content-Type: application/json' -d '{",
      "    \"name\": \"Acme onboarding\", \"reference\": \"ACME-1\", \"mandate_type\": 17,",
      "    \"individuals\": [{\"email\": \"jane@example.com\",",
      "      \"first_name\": \"Jane\", \"last_name\": \"Doe\"}]}'",
    ].join("\n"))));
}

function applications({ applications: apps, totals, now }) {
  if (apps.length === 0) return example();
  const list = h("ul", { class: "cards" }, apps.map((app) => application(app, now)));
  return [list, truncationHint(apps.length, totals.applications)];
}
