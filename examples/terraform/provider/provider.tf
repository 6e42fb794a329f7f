terraform {
  required_providers {
    idv = {
      source = "mandate-io/idv"
    }
  }
}

# The environment variable IDV_PASSWORD sets the password, so that no file contains it.
provider "idv" {
  base_url = "https://idv.example.com"
  username = "terraform"
}
