data "idv_mandate_type" "kyc" {
  code = "kyc"
}

output "kyc_id" {
  value = data.idv_mandate_type.kyc.id
}
