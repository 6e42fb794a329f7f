#!/bin/sh
# Waits until the API server serves the kinds of config/crd, which takes seconds after their CRDs are stored. What comes
# next may be an object of one of them.
#
#   tools/await-kinds.sh KUBECTL
set -eu

kubectl=$1
$kubectl wait --for=condition=Established --timeout=5m --filename=config/crd/bases >/dev/null

# Discovery, which kubectl needs, follows a moment later. Its exit status tells of all groups of the cluster.
crds=$(find config/crd/bases -name '*.yaml' | wc -l)
for attempt in $(seq 100); do
	kinds=$($kubectl api-resources --api-group=idv.mandate.io --output=name 2>/dev/null) || :
	[ "$(echo "$kinds" | wc -l)" -lt "$crds" ] || exit 0
	sleep 0.2
done
echo "the API server serves only these kinds after $attempt attempts: $kinds" >&2
exit 1
