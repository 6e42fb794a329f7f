data "idv_document_type" "passport" {
  name = "Passport"
}

output "passport_code" {
  value = data.idv_document_type.passport.code
}
