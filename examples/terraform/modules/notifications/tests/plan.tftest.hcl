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
    condition = nonsensitive(
      idv_webhook_subscription.this["all"].url == "https://hooks.example.com/notifications/team-a/default/${var.token}"
    )
    error_message = "The URL is not that of the receiver."
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

run "a_token_in_a_header_is_not_in_the_url" {
  command = plan

  variables {
    token         = null
    header_token  = "0123456789abcdef0123456789abcdef"
    headers_field = "headers"
  }

  assert {
    condition     = idv_webhook_subscription.this["all"].url == "https://hooks.example.com/notifications/team-a/default"
    error_message = "The URL contains more than the path of the receiver."
  }
}

run "a_token_is_required" {
  command = plan

  variables {
    token = null
  }

  expect_failures = [var.token]
}
