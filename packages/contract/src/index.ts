export type { AgentCapabilities, AgentHealthPoint } from './collections/agent-details.ts';
export type { Agent } from './collections/agent-fields.ts';
export type { NewAgentToken } from './collections/agent-tokens.ts';
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
export { certificateDefects, type DefectName } from './collections/certificate-defects.ts';
export type { CertificateDetails } from './collections/certificate-details.ts';
export type { Certificate, NewCertificate } from './collections/certificates.ts';
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
export type { MacOverride, MacPolicy } from './collections/network-mac-policy.ts';
export type { Notification } from './collections/notifications.ts';
export { type Project, ProjectDraft } from './collections/projects.ts';
export type {
  MetricSeries,
  MetricSnapshot,
  MetricValue,
  Run,
  RunAgent,
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
  exportSchema,
  type ImportBody,
  type ImportKind,
  type ImportPlan,
  importKinds,
  type TaskExportPlan,
} from './collections/task-transfer.ts';
export { type TunnelType, tunnelParams, tunnelSecretsOf } from './collections/tunnel-params.ts';
export type { TunnelDraft } from './collections/tunnels.ts';
export type { ExtendedUser, LightUser, User, UserDraft } from './collections/users.ts';
export { ErrorBody } from './envelopes.ts';
export { toOpenApi } from './openapi.ts';
export { firstGroups, type Permission, permissions } from './permissions.ts';
export * from './route.ts';
export { defaultSettings, Settings, SettingsPatch, secretMask } from './settings.ts';
export { type EntryValues, secretValues } from './values/entry-values.ts';
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
