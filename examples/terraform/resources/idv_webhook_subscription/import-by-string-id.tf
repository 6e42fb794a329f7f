import {
  to = idv_webhook_subscription.onboarding
  id = "4711/https://hooks.example.com/idv"
}
