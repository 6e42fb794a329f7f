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

  url = provider::idv::notification_url(var.base_url, var.namespace, var.name, var.token)
}

resource "idv_webhook_subscription" "this" {
  for_each = local.applications

  url             = local.url
  application_id  = each.value
  events          = var.events
  deletion_policy = var.deletion_policy
  on_existing     = var.on_existing

  payload_json_wo = var.headers_field == null ? null : jsonencode({
    (var.headers_field) = { Authorization = "Bearer ${var.header_token}" }
  })
  payload_json_wo_version = var.headers_field == null ? null : var.header_token_version
}
