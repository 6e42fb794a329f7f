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
  description = "Token of the receiver. It becomes a part of the URL, so it is stored in the state."
  type        = string
  sensitive   = true
  default     = null

  validation {
    condition     = (var.token == null) != (var.headers_field == null)
    error_message = "Set either token, or header_token and headers_field."
  }
}

variable "header_token" {
  description = "Token of the receiver, for the header of a delivery. It is stored nowhere."
  type        = string
  sensitive   = true
  ephemeral   = true
  default     = ""

  validation {
    condition     = (var.header_token == "") == (var.headers_field == null)
    error_message = "Set header_token together with headers_field."
  }
}

variable "header_token_version" {
  description = "Version of header_token. Another version makes a new subscription."
  type        = number
  default     = 1
}

variable "headers_field" {
  description = "Field of the request in which the service takes the headers of its deliveries, such as \"headers\"."
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

variable "on_existing" {
  description = "What to do if a subscription exists: \"fail\" or \"adopt\"."
  type        = string
  default     = "fail"
}
