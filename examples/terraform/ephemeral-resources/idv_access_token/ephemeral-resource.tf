ephemeral "idv_access_token" "service" {}

# A request that the provider has no resource for.
resource "terraform_data" "references_file" {
  provisioner "local-exec" {
    command     = "curl --fail --oauth2-bearer \"$TOKEN\" https://idv.example.com/api/v1/ext/references > references.json"
    environment = { TOKEN = ephemeral.idv_access_token.service.token }
  }
}
