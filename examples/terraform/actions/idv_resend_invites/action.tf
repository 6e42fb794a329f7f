# Requires Terraform 1.14 or later. Every invocation e-mails a real person:
#
#   terraform apply -invoke=action.idv_resend_invites.jane
action "idv_resend_invites" "jane" {
  config {
    individual_id = 4712
  }
}
