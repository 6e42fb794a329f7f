# Updates about one application. With application_id, the provider can read the subscription back.
resource "idv_webhook_subscription" "onboarding" {
  url            = "https://hooks.example.com/idv"
  events         = ["application.completed", "application.rejected"]
  application_id = 4711
}

# Updates about all applications, with a token in the URL and a secret that the service requires.
resource "idv_webhook_subscription" "all" {
  # Write-only: neither in the plan nor in the state. Another URL needs another version and a new subscription.
  url_wo         = "https://hooks.example.com/idv/${var.receiver_token}"
  url_wo_version = 1

  payload_json_wo         = jsonencode({ secret = var.webhook_secret })
  payload_json_wo_version = 1

  # Keep the service's ID, and nothing else of its response.
  response_export_values = { id = "/id" }

  # The service cannot delete a subscription. With the default, PREVENT, a plan that destroys it fails.
  deletion_policy = "ABANDON"

  timeouts {
    create = "5m"
  }
}

variable "receiver_token" {
  type      = string
  sensitive = true
  ephemeral = true
}

variable "webhook_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}
