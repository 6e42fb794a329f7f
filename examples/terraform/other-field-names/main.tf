# The service does not document the fields of a subscription. If it uses other names, set them in the provider block. To
# try this example, start a sandbox with other names:
#
#   bin/idv-sandbox --dialect subscribeFields=renamed

terraform {
  required_providers {
    idv = {
      source = "mandate-io/idv"
    }
  }
}

provider "idv" {
  webhook_field_names = {
    url            = "target_url"
    events         = "event_types"
    application_id = "mandate_id"
  }
}

resource "idv_webhook_subscription" "updates" {
  url            = "https://hooks.example.com/idv"
  events         = ["application.completed"]
  application_id = 4711
}
