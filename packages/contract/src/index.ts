export { type AiAnnotations, type AiOperation, type AiRisk, type AiScope, aiRisks, aiScopes } from './ai-scopes.ts';
export type { Agent } from './collections/agents/agent.ts';
export type { AgentCapabilities, AgentHealthPoint } from './collections/agents/agent-details.ts';
export type { NewAgentToken } from './collections/agents/agent-tokens.ts';
export { AiConstraints, type AiKey, type AiKeyDraft, AiLimits, AiPolicy } from './collections/ai-admin/ai-key.ts';
export {
  type AiAction,
  type Approval,
  type ApprovalPlan,
  type ApprovalState,
  aiActions,
  approvalStates,
} from './collections/ai-gateway/approvals.ts';
export type { AiDraft } from './collections/ai-gateway/drafts.ts';
export { type ResourceKind, resourceKinds } from './collections/ai-gateway/resources.ts';
export type { Analysis, AnalyzeBody, AnalyzeOptions, Find, Suggestion } from './collections/applications/analysis.ts';
export type {
  Application,
  ApplicationDraft,
  ApplicationParameter,
  ApplicationSession,
  ParameterDraft,
} from './collections/applications/application.ts';
export {
  type ApplicationManifest,
  applicationSchema,
  ImportDocument,
  type ImportFields,
  type PortableApplication,
} from './collections/applications/archive.ts';
export type { NewApplication, TrimBody } from './collections/applications/routes.ts';
export type { AttackResult, AttackSummary } from './collections/attack-result.ts';
export type { CertificateDetails } from './collections/certificates/certificate-details.ts';
export { certificateDefects, type DefectName } from './collections/certificates/certificate-details.ts';
export type { Certificate, NewCertificate } from './collections/certificates/routes.ts';
export {
  type Campaign,
  CampaignDraft,
  type CampaignStep,
  campaignActions,
  campaignProtocols,
  campaignTactics,
} from './collections/compromised-host/campaign.ts';
export { campaignParams, tlsProfiles } from './collections/compromised-host/campaign-params.ts';
export type { CampaignQuery, NavigatorLayer } from './collections/compromised-host/routes.ts';
export type {
  CveExportBody,
  CveFormat,
  CveImportDocument,
  CveImportFields,
  CveImportLine,
  CveTestBody,
} from './collections/cve/exchange.ts';
export type { SigPayload, SigRequest, SigResponse } from './collections/cve/messages.ts';
export { type CveFilter, CveSmartFilter, type CveStatsQuery } from './collections/cve/query.ts';
export type { CveStats } from './collections/cve/routes.ts';
export { CveDraft, type CveSignature, type CveSummary, safeties, severities } from './collections/cve/signature.ts';
export {
  type Dictionary,
  DictionaryDraft,
  type DictionaryUpload,
  type NewDictionary,
} from './collections/dictionaries.ts';
export { type File, type FileUpload, fileCategories, type NewFile } from './collections/files/file.ts';
export type { PcapInfo, PcapQuery } from './collections/files/pcap-info.ts';
export { type Group, GroupDraft } from './collections/groups.ts';
export * as api from './collections/index.ts';
export type {
  ImportMalwareBody,
  ImportMalwareOptions,
  ImportMalwareReport,
} from './collections/malware/generate-import.ts';
export { type GenerateBody, inertContainers } from './collections/malware/generate-import.ts';
export type { MalwareUpload, NewMalware } from './collections/malware/sample.ts';
export { malwarePlatforms, malwareTypes } from './collections/malware/sample.ts';
export { type MacOverride, MacPolicy } from './collections/networks/mac-policy.ts';
export type { Notification } from './collections/notifications.ts';
export { type Project, ProjectDraft } from './collections/projects.ts';
export type { TaskTemplate, TemplateDraft, TemplateParameter, TemplateSlot } from './collections/task-templates.ts';
export type { MetricDescription, Plugin, PluginDetails } from './collections/tasks/plugins.ts';
export type { DeviceRun, DeviceUse, Estimate, RunChange, ValidationIssue } from './collections/tasks/records.ts';
export type {
  GoalKpi,
  GoalResult,
  GoalTrial,
  MetricSeries,
  MetricSnapshot,
  MetricValue,
  Rfc2544Result,
  Rfc9411Result,
  Run,
  RunAgent,
  RunDump,
  RunEvent,
  RunResult,
  RunSummary,
  RunTable,
  RunTableRow,
  StopReason,
  ThresholdResult,
} from './collections/tasks/run.ts';
export { runTables } from './collections/tasks/run.ts';
export type { LoadChange, PlaneCommand, StartBody, TriedExchange, TryBody } from './collections/tasks/run-control.ts';
export { planeActions } from './collections/tasks/run-control.ts';
export type { Schedule, ScheduleBody } from './collections/tasks/schedules.ts';
export {
  type AccessPlaneEntry,
  type ConfigurationEntry,
  type ControlPlaneEntry,
  type Device,
  type SuiteEntry,
  type Task,
  TaskDraft,
  Threshold,
} from './collections/tasks/task.ts';
export {
  type ExportOptions,
  exportSchema,
  type ImportBody,
  type ImportKind,
  type ImportPlan,
  type ImportResult,
  importKinds,
  TaskExportPlan,
} from './collections/tasks/transfer.ts';
export { PortableSignature } from './collections/tasks/transfer-records.ts';
export type { TunnelDraft } from './collections/tunnels/routes.ts';
export { type TunnelType, tunnelParams, tunnelSecretsOf } from './collections/tunnels/tunnel-params.ts';
export type { AccessToken, ExtendedUser, LightUser, User, UserDraft, UserSession } from './collections/users.ts';
export { conditionText, limitText, measureText } from './condition-text.ts';
export { describedMembers } from './descriptions/described-members.ts';
export { memberDescriptions } from './descriptions/member-descriptions.ts';
export { ErrorBody } from './envelopes.ts';
export { toOpenApi } from './openapi/openapi.ts';
export { initialGroups, type Permission, permissions } from './permissions.ts';
export * from './route.ts';
export { isSecret, membersIn } from './secret.ts';
export { defaultSettings, Settings, SettingsPatch, secretMask } from './settings.ts';
export {
  activeStatuses,
  agentStatus,
  type EndStatus,
  isActive,
  isConnected,
  isTerminal,
  runStatus,
  type Status,
  type StatusName,
  statusNameOf,
  statusNames,
  verdictNames,
  verdicts,
} from './status.ts';
export { type EntryValues, secretValues } from './values/entry-values.ts';
export { entriesOf, type FoundEntry, hazardOf } from './values/plugins/entries.ts';
export {
  accessPlanePluginId,
  controlPlanePluginId,
  findPlugin,
  plugins,
  suitePluginId,
} from './values/plugins/index.ts';
export { toJsonSchema } from './values/plugins/json-schema.ts';
export {
  calibrationRate,
  filledGoal,
  firstLoadMember,
  type GoalValues,
  goalLagSec,
  goalSeconds,
  idleLoad,
  maxGoalTrials,
  rfc9411Tests,
  searchedRate,
} from './values/plugins/members/goal.ts';
export {
  checkKinds,
  type JourneyStepValues,
  type JourneyValues,
  stepKinds,
} from './values/plugins/members/journeys.ts';
export {
  type LoadPiece,
  loadCurveOf,
  stagesPeak,
  stagesSeconds,
  stagesWithin,
} from './values/plugins/members/load-curve.ts';
export type { PayloadValues } from './values/plugins/members/payload.ts';
export type { ReferenceKind } from './values/plugins/members/reference.ts';
export type { FoundReference } from './values/plugins/members/references.ts';
export { type DurationValues, duration as entryDuration, type StageValues } from './values/plugins/members/values.ts';
export { commonMetrics, findMetric, metricsOf } from './values/plugins/metrics.ts';
export type { PluginSpec, TypedPlugin } from './values/plugins/plugin.ts';
export { packetEvasions } from './values/plugins/security/block-policy.ts';
export {
  type CompromisedHostValues,
  compromisedHost as compromisedHostPlugin,
} from './values/plugins/security/compromised-host.ts';
export {
  type CveReplayValues,
  cveReplay as cveReplayPlugin,
  maxSignatures,
} from './values/plugins/security/cve-replay.ts';
export { type FuzzingValues, fuzzing as fuzzingPlugin } from './values/plugins/security/fuzzing.ts';
export {
  type MalwareTransferValues,
  malwareTransfer as malwareTransferPlugin,
} from './values/plugins/security/malware-transfer.ts';
export { type WafValues, waf as wafPlugin } from './values/plugins/security/waf.ts';
export { taskReferences } from './values/plugins/task-references.ts';
export { type ApplicationValues, application as applicationPlugin } from './values/plugins/traffic/application.ts';
export { type ConvergenceValues, convergence as convergencePlugin } from './values/plugins/traffic/convergence.ts';
export { type DnsValues, dns as dnsPlugin } from './values/plugins/traffic/dns.ts';
export { type HarReplayValues, harReplay as harReplayPlugin } from './values/plugins/traffic/har-replay.ts';
export { type HttpValues, http as httpPlugin } from './values/plugins/traffic/http.ts';
export { type IcmpValues, icmp as icmpPlugin } from './values/plugins/traffic/icmp.ts';
export { type IpsecLoadValues, ipsecLoad as ipsecLoadPlugin } from './values/plugins/traffic/ipsec-load.ts';
export { type IpsecTunnelValues, ipsecTunnel as ipsecTunnelPlugin } from './values/plugins/traffic/ipsec-tunnel.ts';
export { type PcapReplayValues, pcapReplay as pcapReplayPlugin } from './values/plugins/traffic/pcap-replay.ts';
export { standardFrameSizes } from './values/plugins/traffic/rfc2544.ts';
export { type Rocev2Values, rocev2 as rocev2Plugin } from './values/plugins/traffic/rocev2.ts';
export {
  type StatelessServerValues,
  statelessServer as statelessServerPlugin,
} from './values/plugins/traffic/stateless-server.ts';
export { type StreamValues, stream as streamPlugin } from './values/plugins/traffic/stream.ts';
export { type TcpValues, tcp as tcpPlugin } from './values/plugins/traffic/tcp.ts';
export { type TlsValues, tls as tlsPlugin } from './values/plugins/traffic/tls.ts';
export { type UdpValues, udp as udpPlugin } from './values/plugins/traffic/udp.ts';
export {
  accessProfiles,
  controlProfiles,
  findProtocol,
  type ProtocolConfig,
  type ProtocolName,
  protocolNames,
  protocolProfiles,
} from './values/protocols/profiles.ts';
export { isSecretHeader, type SecretSlot, secretSlotsIn, secretSlotsOf } from './values/task-secrets.ts';

export type Api = typeof import('./collections/index.ts');
