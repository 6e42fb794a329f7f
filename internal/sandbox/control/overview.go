package control

import "time"

// OverviewLimit is how many of each list an Overview holds at most: the newest.
const OverviewLimit = 200

// Overview is everything at one look, newest first, as the page for people shows it.
type Overview struct {
	Now          time.Time     `json:"now"`
	Autoplay     Autoplay      `json:"autoplay"`
	Emails       []Email       `json:"emails"`
	Applications []Application `json:"applications"`
	Deliveries   []Delivery    `json:"deliveries"`
	Faults       []Fault       `json:"faults"` // oldest first, as they strike
	Dialects     []Switch      `json:"dialects"`
	Statistics   Statistics    `json:"statistics"`
	// Totals counts what there is, shown here or not.
	Totals Totals `json:"totals"`
}

// Totals are the lengths of the lists of an Overview before they were cut.
type Totals struct {
	Emails       int `json:"emails"`
	Applications int `json:"applications"`
	Deliveries   int `json:"deliveries"`
}
