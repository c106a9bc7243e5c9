export {
  type Address,
  findAddress,
  findIpVersion,
  formatAddress,
  type IpVersion,
  parseAddress,
} from './addresses/address.ts';
export { type AddressRange, findSubnet, readRange, reservedOf, type Subnet } from './addresses/address-range.ts';
export { AddressSet } from './addresses/address-set.ts';
export { type Overlap, overlapOf } from './addresses/overlap.ts';
export { findPorts, type PortSet, parsePorts } from './addresses/ports.ts';
export { encodings } from './dictionary/column-rule.ts';
export { type CombinedDraw, type CombinedPart, createCombinedDraw } from './dictionary/combination.ts';
export { combineModes } from './dictionary/compiled-dictionary.ts';
export {
  type DictionaryConfig,
  type DictionaryDraft,
  dictionaryTypes,
  type FileRows,
  isProtocolType,
} from './dictionary/dictionary-draft.ts';
export { dictionaryLimits, issuesOfDictionary } from './dictionary/dictionary-issues.ts';
export { createDraw, type DictionaryDrawOptions, type Draw } from './dictionary/draw.ts';
export { type FileOptions, fileOptionsOf } from './dictionary/file-options.ts';
export type { DrawOptions, DrawPosition } from './dictionary/picker.ts';
export { findTextPattern } from './dictionary/row-source.ts';
export { drawScopes, selections } from './dictionary/selection-rule.ts';
export {
  findMac,
  findMacPrefix,
  formatMac,
  isLocalMac,
  isMulticastMac,
  type Mac,
  normaliseMac,
  parseMac,
} from './macs/mac.ts';
export type { MacOverride } from './macs/mac-override.ts';
export type { MacPolicy } from './macs/mac-policy.ts';
export { issuesOfMac, type MacBlock, type MacRecord } from './macs/mac-record.ts';
export { createAddressSet, createHostMacs, gatewayMacOf, issuesOf, portsOf } from './networks/network.ts';
export type { MacLookup, NetworkDraft } from './networks/network-draft.ts';
export {
  createPreview,
  Preview,
  type PreviewPage,
  type PreviewQuery,
  type PreviewRow,
  previewPage,
} from './networks/preview.ts';
export {
  findDictionaryReference,
  type ParameterDraft,
  parameterTypes,
  type SystemValue,
  systemValues,
} from './parameter/parameter-draft.ts';
export { encodeParameter, issuesOfParameter } from './parameter/parameter-issues.ts';
export { type ParameterContext, parameterValue } from './parameter/parameter-value.ts';
export {
  createEndpointPairs,
  type EndpointPair,
  type EndpointPairs,
  issuesOfEndpoints,
  type TunnelEnds,
} from './tunnels/tunnel-endpoints.ts';
export {
  innerMtuOf,
  type TunnelMtu,
  type TunnelMtuInput,
  type TunnelParams,
  type TunnelType,
  tunnelTypes,
} from './tunnels/tunnel-mtu.ts';
export { DraftError, type Issue } from './values/issue.ts';
export { createPermutation, type Permutation } from './values/permutation.ts';
export {
  bitsOf,
  integerBelow,
  type Key,
  keyOf,
  type Seed,
  seededRandom,
  shuffled,
  subkeyOf,
  unitOf,
  wordOf,
} from './values/random.ts';
export { type Share, shareOf } from './values/share.ts';
