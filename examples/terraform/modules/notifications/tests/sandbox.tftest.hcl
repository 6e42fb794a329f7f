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

  # The test destroys what it created, which PREVENT would block.
  deletion_policy = "ABANDON"
}

run "subscribe" {
  assert {
    condition     = startswith(output.subscriptions["all"], "account/sha256:")
    error_message = "The ID is not that of a subscription for all applications."
  }
}

run "a_second_apply_changes_nothing" {
  assert {
    condition     = startswith(idv_webhook_subscription.this["all"].id, "account/sha256:")
    error_message = "The second apply made another subscription."
  }
}
