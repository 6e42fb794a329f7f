function email(mail, known, now) {
  const gone = !known.has(String(mail.application_id));
  return h("li", { class: "mail", "data-key": mail.sequence },
    h("div", { class: "head" }, pill(mail.kind), h("span", { class: "muted" }, `${distance(mail.time, now)} ago`)),
    h("p", { class: "who" }, mail.recipient || mail.address),
    mail.recipient && h("p", { class: "muted break" }, mail.address),
    h("p", { class: "break" }, "for ", h("strong", {}, mail.application_name), ` · ${mail.mandate_type}`),
    mail.reference && h("p", { class: "muted break" }, h("code", {}, mail.reference)),
    h("dl", { class: "facts" },
      h("dt", {}, "Code"), h("dd", {}, h("code", { class: "code" }, mail.invite_code)),
      h("dt", {}, "Sent"), h("dd", {}, time(mail.time))),
    gone
      ? h("p", { class: "muted" }, "The application is gone.")
      : h("a", { href: `#person-${mail.individual_id}`, "data-jump": `person-${mail.individual_id}` },
        "Play this individual"));
}

function mailbox({ emails, applications, totals, now }) {
  if (emails.length === 0) return empty("No e-mails yet. Each individual of a new application gets an invite.");
  const known = new Set(applications.map((app) => String(app.id)));
  const list = h("ul", { class: "mails" }, emails.map((mail) => email(mail, known, now)));
  return [list, truncationHint(emails.length, totals.emails)];
}
