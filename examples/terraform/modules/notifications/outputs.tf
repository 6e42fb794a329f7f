output "subscriptions" {
  description = "IDs of the subscriptions, by application ID, or \"all\". They do not contain the token."
  value       = { for key, subscription in idv_webhook_subscription.this : key => subscription.id }
}

output "drift_detection" {
  description = "Whether the service returns each subscription: \"available\" or \"unavailable\"."
  value       = { for key, subscription in idv_webhook_subscription.this : key => subscription.drift_detection }
}
