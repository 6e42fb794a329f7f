// Package sandbox is a stand-in of the identity verification service, as an http.Handler. It serves the whole
// documented interface below /api/v1, the control API below /sandbox/v1, and a page. docs/sandbox.md is its manual.
//
// A request belongs to an account, by its token or its credentials. The account carries it out in its dialect, on its
// clock and with its faults. Package state has the data of an account, package dialect the switches, package config
// what there is at the start, and package control the types and a client of the control API.
//
// Each point that the interface leaves open is a switch of package dialect, or a comment in the code says "our
// reading". The defaults in short:
//
//   - A create or check decision with an unknown member is an error, because it would lose data silently.
//   - A create needs name, mandate_type and one individual.
//   - Checks in review block complete.
//   - A subscription may name an application that does not exist.
//   - A body above 1 MiB gets a 413.
package sandbox
