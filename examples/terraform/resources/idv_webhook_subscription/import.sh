# By APPLICATION_ID/URL
terraform import idv_webhook_subscription.onboarding '4711/https://hooks.example.com/idv'
