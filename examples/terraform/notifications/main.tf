# This configuration subscribes the notification receiver of an operator. Run it against the sandbox, which needs no
# account:
#
#   bin/idv-sandbox &
#   export IDV_BASE_URL=http://127.0.0.1:8480 IDV_USERNAME=sandbox IDV_PASSWORD=sandbox-password
#   export TF_VAR_receiver_token=$(kubectl get secret idv-notifications -o jsonpath='{.data.token}' | base64 -d)
#   tofu apply

terraform {
  required_version = ">= 1.11.0" # write-only arguments

  required_providers {
    idv = {
      source = "mandate-io/idv"
    }
  }
}

provider "idv" {} # configured by environment variables

variable "receiver_url" {
  description = "URL at which the service reaches the receiver."
  type        = string
  default     = "http://127.0.0.1:8082"
}

variable "receiver_token" {
  description = "Token of the receiver: the key token of the Secret in spec.notifications of the IdentityService."
  type        = string
  sensitive   = true
  ephemeral   = true
}

resource "idv_webhook_subscription" "operator" {
  # Write-only: the token in it is neither in the plan nor in the state.
  url_wo         = provider::idv::notification_url(var.receiver_url, "default", "default", var.receiver_token)
  url_wo_version = 1

  # The service cannot delete a subscription. It continues to deliver to the URL after `tofu destroy`.
  deletion_policy = "ABANDON"
}

data "idv_references" "all" {}

output "subscription" {
  description = "ID of the subscription. It does not contain the token."
  value       = idv_webhook_subscription.operator.id
}

output "mandate_types" {
  description = "Names of the mandate types, by code."
  value       = { for type in data.idv_references.all.mandate_types : type.code => type.name }
}
