# The reference of the application of the Mandate "acme" in the namespace "onboarding".
output "reference" {
  value = provider::idv::mandate_reference("onboarding", "acme")
}

# With the spec.referencePrefix of its IdentityService.
output "reference_in_the_eu_cluster" {
  value = provider::idv::mandate_reference("onboarding", "acme", "eu-")
}
