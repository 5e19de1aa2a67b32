package checks

import (
	"strings"
	"testing"

	"mcpsnoop/internal/mcp"
)

// pages holds the pages of the specification that clauses may link to, and their headings
// as the site names them. Digits are the revisions that have them: 1 is 2024-11-05, 5 is
// 2026-07-28; the first line of a page says which have the page itself. Of some pages only that.
const pages = `
basic
	12345 auth schema
	1 protocol-layers
	2345 messages requests responses notifications
	2 batching
	345 general-fields meta
	45 result-responses error-responses json-schema-usage schema-dialect example-usage default-dialect-2020-12
	45 explicit-dialect-draft-07 implementation-requirements schema-validation icons
	5 resulttype error-codes message-patterns statelessness ref-resolution composition-keyword-resource-use
basic/authorization
	2345
basic/authorization/authorization-server-discovery
	5
basic/authorization/client-registration
	5
basic/authorization/security-considerations
	5
basic/lifecycle
	1234 lifecycle-phases initialization version-negotiation capability-negotiation operation shutdown stdio http error-handling
	234 timeouts
basic/messages
	1 requests responses notifications
basic/patterns
	5 request-and-response multi-round-trip-requests subscribe-and-notify adding-patterns
basic/patterns/cancellation
	5 cancellation-flow transport-specific-cancellation timeouts behavior-requirements timing-considerations
	5 implementation-notes error-handling
basic/patterns/mrtr
	5 multi-round-trip-requests core-types inputrequests inputresponses inputrequiredresult supported-requests basic-workflow
	5 server-requirements-basic-workflow client-requirements-basic-workflow error-handling security-considerations
basic/patterns/progress
	5 progress-flow behavior-requirements implementation-notes
basic/patterns/subscriptions
	5 opening-a-stream notification-filter acknowledgment receiving-notifications multiple-concurrent-subscriptions
	5 cancellation graceful-closure
basic/transports
	12345 custom-transports
	1234 stdio security-warning
	1 http-with-sse
	234 streamable-http sending-messages-to-the-server listening-for-messages-from-the-server multiple-connections
	234 resumability-and-redelivery session-management sequence-diagram backwards-compatibility
	34 protocol-version-header
	5 messages request-metadata cancellation backward-compatibility
basic/transports/stdio
	5 sending-messages receiving-messages request-metadata cancellation shutdown unexpected-termination backward-compatibility
basic/transports/streamable-http
	5 security--endpoint sending-messages receiving-messages message-flow cancellation request-metadata
	5 protocol-version-header standard-request-headers custom-headers-from-tool-parameters schema-extension value-encoding
	5 client-behavior server-behavior-for-custom-headers case-sensitivity server-validation backward-compatibility
	5 earlier-streamable-http-revisions httpsse-transport-2024-11-05
basic/utilities/cancellation
	1234 cancellation-flow behavior-requirements timing-considerations implementation-notes error-handling
basic/utilities/ping
	1234 overview message-format behavior-requirements usage-patterns implementation-considerations error-handling
basic/utilities/progress
	1234 progress-flow behavior-requirements implementation-notes
basic/utilities/tasks
	4 definitions user-interaction-model capabilities server-capabilities client-capabilities capability-negotiation
	4 tool-level-negotiation protocol-messages creating-tasks getting-tasks retrieving-task-results task-status-notification
	4 listing-tasks cancelling-tasks behavior-requirements task-support-and-handling task-id-requirements
	4 task-status-lifecycle input-required-status ttl-and-resource-management result-retrieval
	4 associating-task-related-messages task-notifications task-progress-notifications task-listing task-cancellation
	4 message-flow basic-task-lifecycle task-augmented-tool-call-with-elicitation task-augmented-sampling-request
	4 task-cancellation-flow data-types task task-status task-parameters related-task-metadata error-handling protocol-errors
	4 task-execution-errors security-considerations task-isolation-and-access-control resource-management audit-and-logging
basic/versioning
	5 terminology protocol-version-negotiation extension-negotiation backward-compatibility-with-initialization-based-versions
	5 compatibility-matrix
client/elicitation
	345 user-interaction-model capabilities protocol-messages message-flow response-actions security-considerations
	3 creating-elicitation-requests simple-text-request structured-data-request request-schema supported-schema-types
	45 elicitation-requests form-mode-elicitation-requests requested-schema example-simple-text-request
	45 example-structured-data-request url-mode-elicitation-requests example-request-sensitive-data form-mode-flow
	45 url-mode-flow implementation-considerations statefulness url-mode-elicitation-for-sensitive-data
	45 url-mode-elicitation-for-oauth-flows understanding-the-distinction implementation-pattern error-handling
	45 safe-url-handling identifying-the-user form-mode-security phishing
	4 completion-notifications-for-url-mode-elicitation example url-elicitation-required-error
	4 url-mode-with-elicitation-required-error-flow
client/roots
	12345 user-interaction-model capabilities protocol-messages listing-roots message-flow data-types root project-directory
	12345 multiple-repositories error-handling security-considerations implementation-guidelines
	1234 root-list-changes
client/sampling
	12345 user-interaction-model capabilities protocol-messages creating-messages message-flow data-types messages text-content
	12345 image-content model-preferences capability-priorities model-hints error-handling security-considerations
	2345 audio-content
	45 tools-in-sampling sampling-with-tools multi-turn-tool-loop message-content-constraints tool-result-messages
	45 tool-use-and-result-balance cross-api-compatibility message-roles tool-choice-modes parallel-tool-use
	5 system-prompt context-inclusion sampling-parameters result-fields
schema
	345
	345 jsonrpcmessage jsonrpcnotification jsonrpcrequest jsonrpcresponse annotations cursor emptyresult logginglevel
	345 progresstoken requestid result role audiocontent blobresourcecontents contentblock embeddedresource imagecontent
	345 resourcelink textcontent textresourcecontents completerequest completeresult promptreference resourcetemplatereference
	345 elicitrequest elicitresult booleanschema enumschema numberschema primitiveschemadefinition stringschema
	345 clientcapabilities implementation servercapabilities cancellednotification loggingmessagenotification
	345 progressnotification promptlistchangednotification resourcelistchangednotification resourceupdatednotification
	345 toollistchangednotification getpromptrequest getpromptresult promptmessage listpromptsrequest listpromptsresult prompt
	345 promptargument listresourcesrequest listresourcesresult resource readresourcerequest readresourceresult
	345 listresourcetemplatesrequest listresourcetemplatesresult resourcetemplate listrootsrequest listrootsresult root
	345 createmessagerequest createmessageresult modelhint modelpreferences samplingmessage calltoolrequest calltoolresult
	345 listtoolsrequest listtoolsresult tool toolannotations
	34 initialize initializerequest initializeresult setlevelrequest initializednotification rootslistchangednotification ping
	34 pingrequest subscriberequest unsubscriberequest
	45 jsonrpcerrorresponse jsonrpcresultresponse error icon completerequestparams elicitrequestparams elicitrequestformparams
	45 elicitrequesturlparams legacytitledenumschema multiselectenumschema singleselectenumschema titledmultiselectenumschema
	45 titledsingleselectenumschema untitledmultiselectenumschema untitledsingleselectenumschema cancellednotificationparams
	45 loggingmessagenotificationparams progressnotificationparams resourceupdatednotificationparams getpromptrequestparams
	45 readresourcerequestparams createmessagerequestparams samplingmessagecontentblock toolchoice toolresultcontent
	45 toolusecontent calltoolrequestparams
	3 jsonrpcerror
	4 initializerequestparams setlevelrequestparams taskstatusnotification taskstatusnotificationparams
	4 elicitationcompletenotification tasks createtaskresult relatedtaskmetadata task taskmetadata taskstatus gettaskrequest
	4 gettaskresult gettaskpayloadrequest gettaskpayloadresult listtasksrequest listtasksresult canceltaskrequest
	4 canceltaskresult subscriberequestparams unsubscriberequestparams toolexecution
	5 inputresponserequestparams jsonarray jsonobject jsonvalue metaobject notificationmetaobject notificationparams
	5 paginatedrequestparams requestmetaobject requestparams resultmetaobject resulttype header_mismatch headermismatcherror
	5 internalerror invalidparamserror invalidrequesterror methodnotfounderror missing_required_client_capability
	5 missingrequiredclientcapabilityerror parseerror unsupported_protocol_version unsupportedprotocolversionerror
	5 completeresultresponse subscriptionsacknowledgednotification subscriptionsacknowledgednotificationparams inputrequests
	5 inputrequiredresult inputresponses getpromptresultresponse listpromptsresultresponse listresourcesresultresponse
	5 readresourceresultresponse listresourcetemplatesresultresponse discoverrequest discoverresultresponse discoverresult
	5 subscriptionslistenrequest subscriptionslistenrequestparams subscriptionslistenresultresponse subscriptionslistenresult
	5 subscriptionfilter subscriptionslistenresultmetaobject calltoolresultresponse listtoolsresultresponse
server
	12345
server/discover
	5 request response when-to-call data-types discoverresult
server/prompts
	12345 user-interaction-model capabilities protocol-messages listing-prompts getting-a-prompt list-changed-notification
	12345 message-flow data-types prompt promptmessage text-content image-content embedded-resources error-handling
	12345 implementation-considerations security
	2345 audio-content
	5 resource-links
server/resources
	12345 user-interaction-model capabilities protocol-messages listing-resources reading-resources resource-templates
	12345 list-changed-notification subscriptions message-flow data-types resource resource-contents text-content binary-content
	12345 common-uri-schemes https file git error-handling security-considerations
	345 annotations custom-uri-schemes
server/tools
	12345 user-interaction-model capabilities protocol-messages listing-tools calling-tools list-changed-notification message-flow
	12345 data-types tool tool-result text-content image-content embedded-resources error-handling security-considerations
	2345 audio-content
	345 resource-links structured-content output-schema
	45 tool-names schema-examples tool-with-default-2020-12-schema tool-with-explicit-draft-07-schema tool-with-no-parameters
	5 input-required-tool-results x-mcp-header stateful-tools
server/utilities/caching
	5 cacheable-results cache-key cacheable-model time-to-live-ttl-field freshness-calculation cache-scope-field
	5 choosing-a-cache-scope interaction-with-notifications interaction-with-pagination security-considerations
server/utilities/completion
	12345 user-interaction-model protocol-messages requesting-completions reference-types completion-results message-flow
	12345 data-types completerequest completeresult implementation-considerations security
	2345 capabilities error-handling
server/utilities/logging
	12345 user-interaction-model capabilities log-levels protocol-messages log-message-notifications error-handling
	12345 implementation-considerations security
	1234 setting-log-level message-flow
	5 requesting-log-messages per-request-log-level
server/utilities/pagination
	12345 pagination-model response-format request-format pagination-flow operations-supporting-pagination
	12345 implementation-guidelines error-handling
`

// headings reads pages: by revision, what may follow its part of a link.
func headings(t *testing.T) map[mcp.Revision]map[string]bool {
	t.Helper()
	all := map[mcp.Revision]map[string]bool{}
	for _, r := range mcp.Known() {
		all[r] = map[string]bool{}
	}
	page, begun := "", false
	for line := range strings.Lines(strings.TrimSpace(pages)) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "\t") {
			page, begun = words[0], false
			continue
		}
		for _, digit := range words[0] {
			there := all[mcp.Revision(digit-'0')]
			if there == nil {
				t.Fatalf("%s: no revision %c", page, digit)
			}
			if !begun {
				there[page] = true
			}
			for _, heading := range words[1:] {
				there[page+"#"+heading] = true
			}
		}
		begun = true
	}
	return all
}

// TestLinks follows the link of every clause in every revision that has it.
func TestLinks(t *testing.T) {
	known := headings(t)
	for _, c := range Registry().Clauses() {
		for _, r := range mcp.Known() {
			if !c.In.Has(r) {
				continue
			}
			section, ok := strings.CutPrefix(c.URL(r), "https://modelcontextprotocol.io/specification/"+r.String()+"/")
			page, heading, _ := strings.Cut(section, "#")
			page = strings.TrimSuffix(page, "/index") // the site has it under both names
			if heading != "" {
				page += "#" + heading
			}
			if !ok || !known[r][page] {
				t.Errorf("%s links to %s, which is no page or heading that we know", c.ID, c.URL(r))
			}
		}
	}
}
