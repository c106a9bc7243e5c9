export { certificateDefects, type DefectName } from './collections/certificate-defects.ts';
export type { CertificateDetails } from './collections/certificate-details.ts';
export type { Certificate, NewCertificate } from './collections/certificates.ts';
export {
  type Dictionary,
  DictionaryDraft,
  type DictionaryUpload,
  type NewDictionary,
} from './collections/dictionaries.ts';
export { type Group, GroupDraft } from './collections/groups.ts';
export * as api from './collections/index.ts';
export type { MacOverride, MacPolicy } from './collections/network-mac-policy.ts';
export type { Notification } from './collections/notifications.ts';
export { type Project, ProjectDraft } from './collections/projects.ts';
export { type TunnelType, tunnelParams, tunnelSecretsOf } from './collections/tunnel-params.ts';
export type { TunnelDraft } from './collections/tunnels.ts';
export type { ExtendedUser, LightUser, User, UserDraft } from './collections/users.ts';
export { ErrorBody } from './envelopes.ts';
export { toOpenApi } from './openapi.ts';
export { firstGroups, type Permission, permissions } from './permissions.ts';
export * from './route.ts';
export { defaultSettings, Settings, SettingsPatch, secretMask } from './settings.ts';
export {
  accessProfiles,
  controlProfiles,
  findProtocol,
  type ProtocolConfig,
  type ProtocolName,
  protocolNames,
  protocolProfiles,
} from './values/protocols/profiles.ts';
export { issuesOfProtocol, protocolConfigOf } from './values/protocols/protocol-config.ts';

export type Api = typeof import('./collections/index.ts');
