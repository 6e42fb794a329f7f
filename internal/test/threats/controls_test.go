package threats

import "maps"

// controls that keep each threat of the model away.
var controls = tables(invitation, personalData, credentials, decisions, theOperator, notifications)

func tables(all ...map[string][]control) map[string][]control {
	joined := map[string][]control{}
	for _, table := range all {
		maps.Copy(joined, table)
	}
	return joined
}

const (
	inClient     = "internal/client"
	inWire       = "internal/client/wire"
	inProvider   = "provider"
	inConfig     = "config"
	inAPI        = "api/v1alpha1"
	inOperator   = "operator"
	inConnection = "operator/connection"
	inEngine     = "operator/engine"
	inIndividual = "operator/individuals"
	inLedger     = "operator/ledger"
	inMandate    = "operator/mandate"
	inAction     = "operator/action"
	inService    = "operator/service"
	inReceiver   = "operator/notification"
	inSecrets    = "operator/secrets"
	inPlugin     = "plugin"
)
