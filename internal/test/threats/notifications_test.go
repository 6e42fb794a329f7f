package threats

const receiverFile = "operator/notification/receiver.go"

var notifications = map[string][]control{
	"somebody learns a token, or which services exist, from how and when the receiver refuses": {
		{
			off: "tokens are compared without digest", file: receiverFile,
			old: "[]byte(receiver.Digest(token))", new: "[]byte(pick(ON, receiver.Digest(token), token))",
			in: inReceiver, test: "TestRefusals",
		},
		{
			off: "a request of another form is answered otherwise", file: receiverFile,
			old: "; !valid || !good {", new: "; ON && !valid || !good {",
			in: inReceiver, test: "TestRefusals",
		},
	},
	"a delivery has numbers of people, such as phone numbers, which are read as ids and stored": {
		{
			off: "every name is one of an id", file: "operator/notification/values.go",
			old: "	return placeOther\n", new: "	return pick(ON, placeOther, placeID)\n",
			in: inReceiver, test: "TestPossibleApplications",
		},
		{
			off: "every number is an id", file: "operator/notification/index.go",
			old: "if c.Number != 0 && c.place <= last &&", new: "if c.Number != 0 && (!ON || c.place <= last) &&",
			in: inReceiver, test: "TestPossibleApplications",
		},
	},
	"senders without a token keep the notifications of others out": {
		{
			off: "the rest of what is refused is read", file: receiverFile,
			old: "	setReadTimeout(w, 0)\n",
			new: "	pick(ON, setReadTimeout, func(http.ResponseWriter, time.Duration) {})(w, 0)\n",
			in:  inReceiver, test: "TestRefusedRequestsAreNotRead",
		},
		{
			off: "one address may have all connections", file: "operator/notification/server.go",
			old: "	if c.open[client] >= c.free {", new: "	if c.free == 0 || ON && c.open[client] >= c.free {",
			in: inReceiver, test: "TestConnectionsOfAnAddress",
		},
	},
	"a sender with a token keeps the notifications of others out, or takes the rate of the connection": {
		{
			off: "a namespace may send as many at a time as it likes", file: receiverFile,
			old: "semaphore.NewWeighted(maxReading)", new: "semaphore.NewWeighted(pick[int64](ON, maxReading, 1<<40))",
			in: inReceiver, test: "TestNamespacesShareNothing",
		},
		{
			off: "each id is read at once", file: "operator/notification/finder.go",
			old: "	case !f.limiters.of(key).AllowN(now, 1):",
			new: "	case ON && !f.limiters.of(key).AllowN(now, 1):",
			in:  inReceiver, test: "TestReadsOfForgedIDs",
		},
	},
}
