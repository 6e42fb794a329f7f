package threats

const (
	receiverFile = "operator/notification/receiver.go"
	tokensFile   = "operator/notification/tokens.go"
)

var notifications = map[string][]control{
	"somebody learns a token, or which services exist, from how and when the receiver refuses": {
		{
			off: "tokens are compared without digest", file: tokensFile,
			old: "{ return sha256.Sum256([]byte(token)) }",
			new: "{\n	plain := append([]byte(token), make([]byte, sha256.Size)...)\n" +
				"	return pick(ON, sha256.Sum256([]byte(token)), [sha256.Size]byte(plain[:sha256.Size]))\n}",
			in: inReceiver, test: "TestTokensAreComparedByDigest",
		},
		{
			off: "a refusal shows whether a Secret was read", file: receiverFile,
			old: "time.NewTimer(refusalDelay -", new: "time.NewTimer(pick(ON, refusalDelay, 0) -",
			in: inReceiver, test: "TestRefusals",
		},
		{
			off: "one of many refusals waits for a read", file: receiverFile,
			old: "r.tokens.checkCached(key, token)",
			new: "pick(ON, r.tokens.checkCached, r.tokens.check)(key, token)",
			in:  inReceiver, test: "TestTooManyRefusals",
		},
	},
	"a delivery has numbers of people, such as phone numbers, which are read as ids and stored": {
		{
			off: "every number is an id", file: "operator/notification/rank.go",
			old: "return of, is != classOther && ", new: "return of, !ON || is != classOther && ",
			in: inReceiver, test: "TestPossibleApplications",
		},
		{
			off: "what is no id counts where there is no id", file: "operator/notification/rank.go",
			old: "(of != rankOther || len(key) == 0)", new: "(!ON || of != rankOther || len(key) == 0)",
			in: inReceiver, test: "TestPossibleApplications",
		},
	},
	"senders without a token keep the notifications of others out": {
		{
			off: "any number of refusals wait", file: receiverFile,
			old: "make(chan struct{}, maxWaiting)", new: "make(chan struct{}, pick(ON, maxWaiting, 1<<20))",
			in: inReceiver, test: "TestWrongSendersBehindAProxy",
		},
		{
			off: "every wrong token has the Secret read", file: tokensFile,
			old: "known.readLimit.TokensAt(now) < 1)", new: "ON && known.readLimit.TokensAt(now) < 1)",
			in: inReceiver, test: "TestWrongTokensCauseFewReads",
		},
		{
			off: "the rest of what is refused is read", file: receiverFile,
			old: "	setReadTimeout(w, refusalDelay)\n	http.Error(",
			new: "	pick(ON, setReadTimeout, func(http.ResponseWriter, time.Duration) {})(w, refusalDelay)\n	http.Error(",
			in:  inReceiver, test: "TestRefusedRequestsAreNotRead",
		},
		{
			off: "one address may have all connections", file: "operator/notification/server.go",
			old: "	if l.open[client] >= l.free {", new: "	if l.free == 0 || ON && l.open[client] >= l.free {",
			in: inReceiver, test: "TestConnectionsOfAnAddress",
		},
	},
}
