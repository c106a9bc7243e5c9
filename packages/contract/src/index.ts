export { type AiAnnotations, type AiOperation, type AiRisk, type AiScope, aiRisks, aiScopes } from './ai-scopes.ts';
export type { AgentCapabilities, AgentHealthPoint } from './collections/agent-details.ts';
export type { Agent } from './collections/agent-fields.ts';
export type { NewAgentToken } from './collections/agent-tokens.ts';
export {
  type AiAction,
  type Approval,
  type ApprovalPlan,
  type ApprovalState,
  aiActions,
  approvalStates,
} from './collections/ai-gateway-approvals.ts';
export type { AiDraft } from './collections/ai-gateway-drafts.ts';
export { type ResourceKind, resourceKinds } from './collections/ai-gateway-resources.ts';
export { AiConstraints, type AiKey, type AiKeyDraft, AiLimits, AiPolicy } from './collections/ai-key-fields.ts';
export type { Analysis, AnalyzeBody, AnalyzeOptions, Find, Suggestion } from './collections/application-analysis.ts';
export {
  type ApplicationManifest,
  applicationSchema,
  ImportDocument,
  type ImportFields,
  type PortableApplication,
} from './collections/application-archive.ts';
export type {
  Application,
  ApplicationDraft,
  ApplicationParameter,
  ApplicationSession,
  ParameterDraft,
} from './collections/application-fields.ts';
export type { NewApplication, TrimBody } from './collections/applications.ts';
export type { AttackResult, AttackSummary } from './collections/attack-result.ts';
export {
  type Campaign,
  CampaignDraft,
  type CampaignStep,
  campaignActions,
  campaignProtocols,
  campaignTactics,
} from './collections/campaign-fields.ts';
export { campaignParams } from './collections/campaign-params.ts';
export { certificateDefects, type DefectName } from './collections/certificate-defects.ts';
export type { CertificateDetails } from './collections/certificate-details.ts';
export type { Certificate, NewCertificate } from './collections/certificates.ts';
export type { CampaignQuery, NavigatorLayer } from './collections/compromised-host.ts';
export type { CveStats } from './collections/cve.ts';
export type {
  CveExportBody,
  CveFormat,
  CveImportDocument,
  CveImportFields,
  CveImportLine,
  CveTestBody,
} from './collections/cve-exchange.ts';
export { CveDraft, type CveSignature, type CveSummary, safeties, severities } from './collections/cve-fields.ts';
export type { SigPayload, SigRequest, SigResponse } from './collections/cve-messages.ts';
export { type CveFilter, CveSmartFilter, type CveStatsQuery } from './collections/cve-query.ts';
export {
  type Dictionary,
  DictionaryDraft,
  type DictionaryUpload,
  type NewDictionary,
} from './collections/dictionaries.ts';
export { type File, type FileUpload, fileCategories, type NewFile } from './collections/file-fields.ts';
export type { PcapInfo, PcapQuery } from './collections/file-pcap.ts';
export { type Group, GroupDraft } from './collections/groups.ts';
export * as api from './collections/index.ts';
export type { MalwareUpload, NewMalware } from './collections/malware-fields.ts';
export { malwarePlatforms, malwareTypes } from './collections/malware-fields.ts';
export { type GenerateBody, inertContainers } from './collections/malware-generate.ts';
export type { ImportMalwareBody, ImportMalwareOptions, ImportMalwareReport } from './collections/malware-import.ts';
export { type MacOverride, MacPolicy } from './collections/network-mac-policy.ts';
export type { Notification } from './collections/notifications.ts';
export { type Project, ProjectDraft } from './collections/projects.ts';
export type { Rfc2544Result } from './collections/rfc2544-result.ts';
export type {
  MetricSeries,
  MetricSnapshot,
  MetricValue,
  Run,
  RunAgent,
  RunDump,
  RunEvent,
  RunResult,
  RunSummary,
  StopReason,
  ThresholdResult,
} from './collections/run-fields.ts';
export {
  type AccessPlaneEntry,
  type ConfigurationEntry,
  type ControlPlaneEntry,
  type SuiteEntry,
  type Task,
  TaskDraft,
  Threshold,
} from './collections/task-fields.ts';
export type { MetricDescription, Plugin, PluginDetails } from './collections/task-plugins.ts';
export type { Estimate, ValidationIssue } from './collections/task-records.ts';
export type { LoadChange, StartBody } from './collections/task-run-control.ts';
export type { Schedule, ScheduleBody } from './collections/task-schedules.ts';
export type { TaskTemplate, TemplateDraft, TemplateParameter, TemplateSlot } from './collections/task-templates.ts';
export {
  type ExportOptions,
  exportSchema,
  type ImportBody,
  type ImportKind,
  type ImportPlan,
  type ImportResult,
  importKinds,
  TaskExportPlan,
} from './collections/task-transfer.ts';
export { PortableSignature } from './collections/task-transfer-records.ts';
export { type TunnelType, tunnelParams, tunnelSecretsOf } from './collections/tunnel-params.ts';
export type { TunnelDraft } from './collections/tunnels.ts';
export type { ExtendedUser, LightUser, User, UserDraft } from './collections/users.ts';
export { ErrorBody } from './envelopes.ts';
export { toOpenApi } from './openapi.ts';
export { firstGroups, type Permission, permissions } from './permissions.ts';
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
export type { ApplicationValues } from './values/plugins/application.ts';
export { commonMetrics } from './values/plugins/common-metrics.ts';
export type { CompromisedHostValues } from './values/plugins/compromised-host.ts';
export type { CveReplayValues } from './values/plugins/cve-replay.ts';
export type { DnsValues } from './values/plugins/dns.ts';
export { type DurationValues, duration as entryDuration } from './values/plugins/duration.ts';
export { entriesOf, type FoundEntry } from './values/plugins/entries.ts';
export type { FuzzingValues } from './values/plugins/fuzzing.ts';
export type { HarReplayValues } from './values/plugins/har-replay.ts';
export type { HttpValues } from './values/plugins/http.ts';
export type { IcmpValues } from './values/plugins/icmp.ts';
export {
  accessPlanePluginId,
  controlPlanePluginId,
  findPlugin,
  plugins,
  suitePluginId,
} from './values/plugins/index.ts';
export { toJsonSchema } from './values/plugins/json-schema.ts';
export type { MalwareTransferValues } from './values/plugins/malware-transfer.ts';
export type { PayloadValues } from './values/plugins/payload.ts';
export type { PcapReplayValues } from './values/plugins/pcap-replay.ts';
export type { PluginSpec } from './values/plugins/plugin.ts';
export { findMetric, metricsOf } from './values/plugins/plugin-metrics.ts';
export type { ReferenceKind } from './values/plugins/reference.ts';
export type { FoundReference } from './values/plugins/references.ts';
export { standardFrameSizes } from './values/plugins/rfc2544.ts';
export type { StatelessServerValues } from './values/plugins/stateless-server.ts';
export type { StreamValues } from './values/plugins/stream.ts';
export { hazardOf } from './values/plugins/task-hazard.ts';
export { taskReferences } from './values/plugins/task-references.ts';
export type { TcpValues } from './values/plugins/tcp.ts';
export type { TlsValues } from './values/plugins/tls.ts';
export type { UdpValues } from './values/plugins/udp.ts';
export type { WafValues } from './values/plugins/waf.ts';
export {
  accessProfiles,
  controlProfiles,
  findProtocol,
  type ProtocolConfig,
  type ProtocolName,
  protocolNames,
  protocolProfiles,
} from './values/protocols/profiles.ts';

export type Api = typeof import('./collections/index.ts');
