# This test subscribes a URL. Run it against the sandbox, because no service can delete a subscription:
#
#   bin/idv-sandbox &
#   export IDV_BASE_URL=http://127.0.0.1:8480 IDV_USERNAME=sandbox IDV_PASSWORD=sandbox-password
#   tofu test

provider "idv" {} # configured by environment variables

variables {
  base_url  = "https://hooks.example.com"
  namespace = null # a ClusterIdentityService
  name      = "shared"
  token     = "0123456789abcdef0123456789abcdef"
  events    = ["application.completed"]

  header_token = "" # Terraform 1.11 needs a value of an ephemeral variable in a test

  # The test destroys what it created, which PREVENT would block.
  deletion_policy = "ABANDON"
}

run "subscribe" {
  assert {
    condition     = output.subscriptions["all"] == "https://hooks.example.com/notifications/-/shared/xxxxx"
    error_message = "The ID contains the token, or another receiver."
  }
}

run "a_second_apply_changes_nothing" {
  assert {
    condition     = idv_webhook_subscription.this["all"].id == "https://hooks.example.com/notifications/-/shared/xxxxx"
    error_message = "The second apply made another subscription."
  }
}
