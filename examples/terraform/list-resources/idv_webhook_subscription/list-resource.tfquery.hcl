# terraform query -generate-config-out=subscriptions.tf
list "idv_webhook_subscription" "of_application" {
  provider = idv

  config {
    application_id = 4711
  }
}
