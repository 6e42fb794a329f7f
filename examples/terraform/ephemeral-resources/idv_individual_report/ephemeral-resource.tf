# The service has a report once the individual has completed the checks.
ephemeral "idv_individual_report" "jane" {
  individual_id = 4712
}

# On Linux, an environment variable holds at most 128 KiB. Pass a larger report to a write-only argument instead.
resource "terraform_data" "report" {
  provisioner "local-exec" {
    command     = "printf %s \"$REPORT\" | base64 -d >report.pdf"
    environment = { REPORT = ephemeral.idv_individual_report.jane.content_base64 }
  }
}
