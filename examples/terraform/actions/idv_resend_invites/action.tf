# Terraform 1.14 or later. E-mails a real person whenever it is invoked:
#
#   terraform apply -invoke=action.idv_resend_invites.jane
action "idv_resend_invites" "jane" {
  config {
    individual_id = 4712
  }
}
