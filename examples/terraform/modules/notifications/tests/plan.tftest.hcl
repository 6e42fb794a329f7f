# These tests need no service: a mock takes the place of the provider.
#
#   tofu test -filter=tests/plan.tftest.hcl

mock_provider "idv" {}

variables {
  base_url  = "https://hooks.example.com/"
  namespace = "team-a"
  name      = "default"
  token     = "0123456789abcdef0123456789abcdef"
}

run "one_subscription_for_all_applications" {
  command = plan

  assert {
    condition     = keys(idv_webhook_subscription.this) == ["all"]
    error_message = "Without application_ids, there is one subscription."
  }

  assert {
    condition     = idv_webhook_subscription.this["all"].url == null
    error_message = "The URL is in the plan."
  }
}

run "one_subscription_per_application" {
  command = plan

  variables {
    application_ids = [4711, 4712]
  }

  assert {
    condition     = [for s in idv_webhook_subscription.this : s.application_id] == [4711, 4712]
    error_message = "Each application has a subscription of its own."
  }
}

run "a_token_in_a_header" {
  command = plan

  variables {
    headers_field = "headers"
    token_version = 2
  }

  assert {
    condition     = idv_webhook_subscription.this["all"].payload_json_wo_version == 2
    error_message = "The version of the payload is not that of the token."
  }
}
