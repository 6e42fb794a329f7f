// Package client is the Go client of the identity verification service: one method per documented operation, built for
// a service whose create call e-mails real people and whose interface leaves much unsaid.
//
// It knows neither Kubernetes nor Terraform. Every failed call gives an *Error whose Outcome tells what is known about
// its effect (NotSent, Refused, Unknown) and whose Kind tells why; what an operation may do by itself (repeat, wait, how
// much it reads) is data in the operations table. Answers are read tolerantly, with the raw JSON kept beside what was
// understood, except for the two members that decide which application this is: id and reference.
package client
