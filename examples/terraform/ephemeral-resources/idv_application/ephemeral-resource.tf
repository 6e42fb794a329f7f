ephemeral "idv_application" "onboarding" {
  application_id = 4711
}

# Prints a message if the application is in review. Terraform stores a trigger in the state, so it must not contain
# personal data.
resource "terraform_data" "review" {
  triggers_replace = "2026-01"

  provisioner "local-exec" {
    command     = "[ \"$STATE\" != 'in review' ] || echo 'application 4711 waits for a decision'"
    environment = { STATE = ephemeral.idv_application.onboarding.state }
  }
}
