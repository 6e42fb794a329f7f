# This configuration subscribes the notification receiver of an operator for five teams. Each team has an IdentityService
# named default in its namespace. Set TF_VAR_receiver_tokens to a JSON object with the token of each team:
#
#   export TF_VAR_receiver_tokens='{"billing":"...","lending":"...","onboarding":"...","payments":"...","risk":"..."}'
#   tofu init && tofu apply

terraform {
  required_version = ">= 1.11.0" # write-only arguments

  required_providers {
    idv = {
      source = "mandate-io/idv"
    }
  }
}

provider "idv" {} # configured by environment variables

locals {
  # The version of a team's token. To change a token, increase its version.
  teams = {
    billing    = 1
    lending    = 1
    onboarding = 1
    payments   = 1
    risk       = 1
  }
}

variable "receiver_tokens" {
  description = "Token of the receiver, by team. The tokens are stored nowhere."
  type        = map(string)
  sensitive   = true
  ephemeral   = true
}

module "notifications" {
  source   = "../modules/notifications"
  for_each = local.teams

  base_url      = "https://hooks.example.com" # spec.notifications.url of the IdentityService
  namespace     = each.key
  token         = var.receiver_tokens[each.key]
  token_version = each.value

  # The service cannot delete a subscription. It continues to deliver to the URL after `tofu destroy`.
  deletion_policy = "ABANDON"
}

output "subscriptions" {
  description = "IDs of the subscriptions, by team."
  value       = { for team, module in module.notifications : team => module.subscriptions["all"] }
}
