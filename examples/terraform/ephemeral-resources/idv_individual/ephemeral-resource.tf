ephemeral "idv_application" "onboarding" {
  application_id = 4711
}

ephemeral "idv_individual" "first" {
  individual_id = ephemeral.idv_application.onboarding.individuals[0].id
}

# Passes personal data to a program. Terraform stores it neither in the state nor in the plan.
resource "terraform_data" "address_book" {
  provisioner "local-exec" {
    command = "printf '%s\\n' \"$EMAIL\" >address-book.txt"
    environment = {
      EMAIL = ephemeral.idv_individual.first.email
    }
  }
}
