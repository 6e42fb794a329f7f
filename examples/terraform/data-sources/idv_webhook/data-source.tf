data "idv_webhook" "onboarding" {
  application_id = 4711
}

# Warns if no webhook delivers updates about the application.
check "updates_are_delivered" {
  assert {
    condition     = length(data.idv_webhook.onboarding.webhooks) > 0 || !data.idv_webhook.onboarding.complete
    error_message = "No webhook delivers updates about application 4711."
  }
}
