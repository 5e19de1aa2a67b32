package checks

import "slices"

// ownClauses are those beyond the registry of conformance rows: what the specification
// demands all the same, and no row covers. They stand in reports where they were broken.
var ownClauses = slices.Concat(ownBase, ownLifecycle, ownTransport, ownHeaders, ownServer, ownPatterns)

// trackers keep what checks share.
var trackers = slices.Concat(baseTrackers, lifecycleTrackers, transportTrackers, headerTrackers, serverTrackers, patternTrackers)
