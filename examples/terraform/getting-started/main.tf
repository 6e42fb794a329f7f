# Run this configuration against the sandbox, which needs no account:
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

provider "idv" {} # configured by environment variables

variable "webhook_url" {
  description = "URL that the service delivers updates about applications to."
  type        = string
  default     = "http://127.0.0.1:8481/idv"
}

resource "idv_webhook_subscription" "updates" {
  url = var.webhook_url

  # The service cannot delete a subscription. It continues to deliver to the URL after `tofu destroy`.
  deletion_policy = "ABANDON"
}

data "idv_references" "all" {}

output "webhook" {
  description = "ID of the subscription."
  value       = idv_webhook_subscription.updates.id
}

output "mandate_types" {
  description = "Names of the mandate types, by code."
  value       = { for type in data.idv_references.all.mandate_types : type.code => type.name }
}
