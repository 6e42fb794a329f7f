variable "token" {
  description = "Token of the receiver, with at least 32 characters and no white space."
  type        = string
  sensitive   = true
  default     = "replace-me-replace-me-replace-me" # a random value of the Secret that spec.notifications.secretRef names
}

# The receiver of the IdentityService "default" in the namespace "team-a".
output "url" {
  value     = provider::idv::notification_url("https://hooks.example.com", "team-a", "default", var.token)
  sensitive = true
}

# The receiver of the ClusterIdentityService "shared", which has no namespace. The header of a request has the token.
output "cluster_url" {
  value = provider::idv::notification_url("https://hooks.example.com", null, "shared", null)
}
