output "subscriptions" {
  description = "IDs of the subscriptions, by application ID, or \"all\". They do not contain the token."
  value       = { for key, subscription in idv_webhook_subscription.this : key => subscription.id }
}

output "readable" {
  description = "Whether the service returned each subscription at the last read."
  value       = { for key, subscription in idv_webhook_subscription.this : key => subscription.readable }
}
