variable "base_url" {
  description = "URL at which the service reaches the receiver: spec.notifications.url of the IdentityService."
  type        = string
}

variable "namespace" {
  description = "Namespace of the IdentityService. Null for a ClusterIdentityService."
  type        = string
  default     = null
}

variable "name" {
  description = "Name of the IdentityService or ClusterIdentityService."
  type        = string
  default     = "default"
}

variable "token" {
  description = "Token of the receiver. It is stored nowhere."
  type        = string
  sensitive   = true
  ephemeral   = true
}

variable "token_version" {
  description = "Version of token. Another version with another token makes a new subscription."
  type        = number
  default     = 1
}

variable "headers_field" {
  description = "Field of the request for the headers of deliveries. If set, the token is in a header, not in the URL."
  type        = string
  default     = null
}

variable "application_ids" {
  description = "IDs of the applications to deliver updates about. Empty for all applications."
  type        = set(number)
  default     = []
}

variable "events" {
  description = "Types of the events to deliver. Null for the service's default."
  type        = set(string)
  default     = null
}

variable "deletion_policy" {
  description = "PREVENT blocks a plan that destroys or replaces a subscription. ABANDON leaves it at the service."
  type        = string
  default     = "PREVENT"
}
