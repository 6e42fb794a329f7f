# Run it against the sandbox, which needs no account:
#
#   bin/idv-sandbox &
#   export IDV_BASE_URL=http://127.0.0.1:8480 IDV_USERNAME=sandbox IDV_PASSWORD=sandbox-password
#   tofu apply

terraform {
  required_providers {
    idv = {
      source = "mandate-io/idv"
    }
  }
}

provider "idv" {} # everything from the environment

variable "webhook_url" {
  description = "Where the service sends updates about applications."
  type        = string
  default     = "http://127.0.0.1:8481/idv"
}

resource "idv_webhook_subscription" "updates" {
  url = var.webhook_url

  # The service cannot unsubscribe. Here it may go on delivering to the URL after `tofu destroy`.
  deletion_policy = "ABANDON"
}

data "idv_references" "all" {}

output "webhook" {
  description = "The subscription, as Terraform knows it."
  value       = idv_webhook_subscription.updates.id
}

output "mandate_types" {
  description = "The types that an application can have, by code."
  value       = { for type in data.idv_references.all.mandate_types : type.code => type.name }
}
