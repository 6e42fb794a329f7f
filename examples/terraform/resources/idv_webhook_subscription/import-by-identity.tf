import {
  to = idv_webhook_subscription.onboarding
  identity = {
    application_id = 4711
    url_sha256     = "4c8b2b78027533cf2063fa8072d894c4f3e01bdaeb5d441d669dc33a751511b8"
  }
}
