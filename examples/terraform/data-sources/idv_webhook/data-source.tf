data "idv_webhook" "onboarding" {
  application_id = 4711
}

# Fails a run, with a warning, in which updates about the application would go nowhere.
check "updates_are_delivered" {
  assert {
    condition     = length(data.idv_webhook.onboarding.webhooks) > 0 || !data.idv_webhook.onboarding.complete
    error_message = "Nobody subscribed to updates about application 4711."
  }
}
