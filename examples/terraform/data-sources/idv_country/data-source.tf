data "idv_country" "uk" {
  code = "GB"
}

output "country" {
  value = data.idv_country.uk.name
}
