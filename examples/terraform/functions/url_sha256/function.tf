# The ID with which to import the subscription of this URL to updates about all applications
output "import_id" {
  value = "account/sha256:${provider::idv::url_sha256("https://hooks.example.com/idv")}"
}
