package config

import (
	"cmp"
	"time"
)

// The defaults of an Account.
const (
	DefaultAccount       = "default"
	DefaultUsername      = "sandbox"
	DefaultPassword      = "sandbox-password"
	DefaultClientID      = "sandbox-client"
	DefaultClientSecret  = "sandbox-secret"
	DefaultTokenLifetime = time.Hour
	DefaultAutoplayDelay = 500 * time.Millisecond
)

// The names of the checks that the sandbox has results for.
const (
	DocumentCheck = "document"
	LivenessCheck = "liveness"
	AddressCheck  = "address"
)

// fill fills in the defaults of an account. Only the first one has default credentials.
func (a *Account) fill(first bool) {
	if first {
		a.Name = cmp.Or(a.Name, DefaultAccount)
		if a.Username+a.Password+a.ClientID+a.ClientSecret == "" {
			a.Username, a.Password = DefaultUsername, DefaultPassword
			a.ClientID, a.ClientSecret = DefaultClientID, DefaultClientSecret
		}
	}
	a.TokenLifetimeSeconds = cmp.Or(a.TokenLifetimeSeconds, int64(DefaultTokenLifetime/time.Second))
	a.Autoplay.DelayMillis = cmp.Or(a.Autoplay.DelayMillis, DefaultAutoplayDelay.Milliseconds())
	if a.MandateTypes == nil {
		a.MandateTypes = []MandateType{
			{17, "kyc", "Know your customer", "Document, liveness and proof of address",
				[]string{DocumentCheck, LivenessCheck, AddressCheck}},
			{23, "identity", "Identity", "Document and liveness", []string{DocumentCheck, LivenessCheck}},
			{42, "address", "Address", "Proof of address only", []string{AddressCheck}},
		}
	}
	if a.Countries == nil {
		a.Countries = []Country{
			{"AU", "Australia"}, {"DE", "Germany"}, {"FR", "France"}, {"GB", "United Kingdom"}, {"US", "United States"},
		}
	}
	if a.DocumentTypes == nil {
		a.DocumentTypes = []DocumentType{
			{31, "passport", "Passport"}, {32, "driving_licence", "Driving licence"},
			{38, "national_id", "National identity card"},
		}
	}
}
