package control

import "time"

// OverviewLimit is the maximum length of each list of an Overview.
const OverviewLimit = 200

// Overview is all that the page shows, newest first.
type Overview struct {
	Accounts     []string      `json:"accounts"` // the names of all accounts
	Account      string        `json:"account"`
	Now          time.Time     `json:"now"`
	Autoplay     Autoplay      `json:"autoplay"`
	Emails       []Email       `json:"emails"`
	Applications []Application `json:"applications"`
	Deliveries   []Delivery    `json:"deliveries"`
	Faults       []Fault       `json:"faults"` // oldest first
	Dialects     []Switch      `json:"dialects"`
	Statistics   Statistics    `json:"statistics"`
	// Totals counts what there is, including what the limit omits.
	Totals Totals `json:"totals"`
}

// Totals are the lengths of the lists of an Overview without the limit.
type Totals struct {
	Emails       int `json:"emails"`
	Applications int `json:"applications"`
	Deliveries   int `json:"deliveries"`
}
