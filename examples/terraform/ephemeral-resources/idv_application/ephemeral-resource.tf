ephemeral "idv_application" "onboarding" {
  application_id = 4711
}

# Once it is in review, tell somebody. The trigger is no personal data; what would be must not be one.
resource "terraform_data" "review" {
  triggers_replace = "2026-01"

  provisioner "local-exec" {
    command     = "[ \"$STATE\" != 'in review' ] || echo 'application 4711 waits for a decision'"
    environment = { STATE = ephemeral.idv_application.onboarding.state }
  }
}
