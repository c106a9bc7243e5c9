export { type Address, findAddress, findIpVersion, formatAddress, type IpVersion, parseAddress } from './address.ts';
export { type AddressRange, findSubnet, readRange, reservedOf, type Subnet } from './address-range.ts';
export { AddressSet } from './address-set.ts';
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
export { drawScopes, selections } from './dictionary/selection-rule.ts';
export { findTextPattern } from './dictionary/text-pattern.ts';
export { DraftError, type Issue } from './issue.ts';
export {
  findMac,
  findMacPrefix,
  formatMac,
  isLocalMac,
  isMulticastMac,
  type Mac,
  normaliseMac,
  parseMac,
} from './mac.ts';
export type { MacOverride } from './mac-override.ts';
export type { MacPolicy } from './mac-policy.ts';
export { createMacBlock, issuesOfMac, type MacBlock, type MacRecord, macOfBlock } from './mac-record.ts';
export { createAddressSet, issuesOf, portsOf } from './network.ts';
export type { MacLookup, NetworkDraft } from './network-draft.ts';
export { type Overlap, overlapOf } from './overlap.ts';
export { encodeParameter } from './parameter/parameter-bytes.ts';
export {
  findDictionaryReference,
  type ParameterDraft,
  parameterTypes,
  type SystemValue,
  systemValues,
} from './parameter/parameter-draft.ts';
export { issuesOfParameter } from './parameter/parameter-issues.ts';
export { type ParameterContext, parameterValue } from './parameter/parameter-value.ts';
export { createPermutation, type Permutation } from './permutation.ts';
export { findPorts, type PortSet, parsePorts } from './ports.ts';
export {
  createPreview,
  Preview,
  type PreviewPage,
  type PreviewQuery,
  type PreviewRow,
  previewPage,
} from './preview.ts';
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
} from './random.ts';
export { createRotation, type Rotation, type RotationMode, rotationModes } from './rotation.ts';
export { type Share, shareOf } from './share.ts';
export {
  createEndpointPairs,
  type EndpointPair,
  type EndpointPairs,
  issuesOfEndpoints,
  type TunnelEnds,
} from './tunnel-endpoints.ts';
export {
  innerMtuOf,
  type TunnelMtu,
  type TunnelMtuInput,
  type TunnelParams,
  type TunnelType,
  tunnelTypes,
} from './tunnel-mtu.ts';
