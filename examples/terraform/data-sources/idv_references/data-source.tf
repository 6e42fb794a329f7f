data "idv_references" "all" {}

output "mandate_types" {
  value = { for type in data.idv_references.all.mandate_types : type.code => type.name }
}
