# Updates about one application. With application_id, the provider can read the subscription back.
resource "idv_webhook_subscription" "onboarding" {
  url            = "https://hooks.example.com/idv"
  events         = ["application.completed", "application.rejected"]
  application_id = 4711
}

# Updates about all applications, with a secret that the service requires.
resource "idv_webhook_subscription" "all" {
  url = "https://hooks.example.com/idv"

  # Write-only: neither in the plan nor in the state. Another secret needs another version and a new subscription.
  payload_json_wo         = jsonencode({ secret = var.webhook_secret })
  payload_json_wo_version = 1

  # The service cannot delete a subscription. With the default, PREVENT, a plan that destroys it fails.
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
