# By APPLICATION_ID/URL, or APPLICATION_ID/sha256:HEX; account/... for updates about all applications
terraform import idv_webhook_subscription.onboarding '4711/https://hooks.example.com/idv'
