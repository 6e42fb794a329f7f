import {
  to = idv_webhook_subscription.onboarding
  identity = {
    application_id = 4711
    url            = "https://hooks.example.com/idv"
  }
}
