terraform {
  required_providers {
    idv = {
      source = "mandate-io/idv"
    }
  }
}

# The password comes from IDV_PASSWORD, so that it is in no file.
provider "idv" {
  base_url = "https://idv.example.com"
  username = "terraform"
}
