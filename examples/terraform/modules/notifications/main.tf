terraform {
  required_version = ">= 1.11.0" # write-only arguments

  required_providers {
    idv = {
      source = "mandate-io/idv"
    }
  }
}

locals {
  # Without application_ids, there is one subscription for the updates about all applications.
  applications = length(var.application_ids) > 0 ? { for id in var.application_ids : tostring(id) => id } : { all = null }

  in_header = var.headers_field != null
}

resource "idv_webhook_subscription" "this" {
  for_each = local.applications

  # Write-only: the token in it is neither in the plan nor in the state.
  url_wo = provider::idv::notification_url(var.base_url, var.namespace, var.name, local.in_header ? null : var.token)

  url_wo_version  = var.token_version
  application_id  = each.value
  events          = var.events
  deletion_policy = var.deletion_policy

  payload_json_wo = local.in_header ? jsonencode({
    (var.headers_field) = { Authorization = "Bearer ${var.token}" }
  }) : null
  payload_json_wo_version = local.in_header ? var.token_version : null
}
