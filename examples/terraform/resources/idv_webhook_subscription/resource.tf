# Updates about one application. With application_id the subscription can be read back.
resource "idv_webhook_subscription" "onboarding" {
  url            = "https://hooks.example.com/idv"
  events         = ["application.completed", "application.rejected"]
  application_id = 4711
}

# Updates about all applications, at a service that wants a secret.
resource "idv_webhook_subscription" "all" {
  url = "https://hooks.example.com/idv"

  # Sent, and neither in the plan nor in the state. Another secret takes another number, and so a new subscription.
  payload_json_wo         = jsonencode({ secret = var.webhook_secret })
  payload_json_wo_version = 1

  # The service cannot unsubscribe. With PREVENT, the default, a plan to destroy this fails.
  deletion_policy = "ABANDON"

  timeouts {
    create = "5m"
  }
}

variable "webhook_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}
