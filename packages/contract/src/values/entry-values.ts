import { type Static, type TSchema, Type } from 'typebox';
import { strict } from '../schema.ts';
import { secret } from '../secret.ts';

const names = <const Names extends readonly string[]>(list: Names) => list;

// All members of `values` by declared type. The schema of each plugin (`plugins/`) says which of them it takes.
const objects = names([
  'applicationParams',
  'compromisedHostParams',
  'convergenceEncapsulation',
  'cveReplayParams',
  'dnsParams',
  'duration',
  'fuzzingParams',
  'harReplayParams',
  'httpParams',
  'icmpParams',
  'ipLayer',
  'keepAlive',
  'payload',
  'pcapReplayParams',
  'rocev2Params',
  'statelessServerParams',
  'tcpConfiguration',
  'tlsParams',
  'wafModules',
]);
const integers = names([
  'convergenceFlows',
  'cpuCores',
  'frameSize',
  'initialTps',
  'ipsecDpdInterval',
  'ipsecDpdTimeout',
  'ipsecEncrypt',
  'ipsecIkeTimeout',
  'ipsecLoadConcurrentHs',
  'ipsecLoadHsRatePps',
  'ipsecLoadKeepalivePps',
  'ipsecLoadPeerCount',
  'ipsecLoadPeerShareEndpoint',
  'ipsecLoadRecycleAfterMs',
  'ipsecLoadResponderIdleRecycleMs',
  'ipsecLoadResponderPoolCap',
  'ipsecLoadSrcIpCount',
  'ipsecMultiChildCount',
  'ipsecNatt',
  'ipsecPeerCount',
  'ipsecPfs',
  'ipsecRekeyTime',
  'ipsecSaLifetime',
  'ipsecTunnelCount',
  'ipsecTunnelOpenRatePps',
  'ipsecTunnelPeerShareEndpoint',
  'ipsecTunnelSrcIpCount',
  'ipsecTunnelUniqueTsi',
  'l2PolicyVersion',
  'maxStreams',
  'packetsPerSecond',
  'ppsPerConnection',
  'reopenSessionTime',
  'requestInterval',
  'requestsPerSecond',
  'sessionsPerSecond',
  'totalSessions',
  'tpsRampStep',
  'tunnelID',
]);
const booleans = names(['invalidChecksum', 'isServer', 'ppsUnlimited', 'rpsUnlimited']);
const strings = names([
  'clientPortRange',
  'ipsecAuthMethod',
  'ipsecCa',
  'ipsecCert',
  'ipsecCipher',
  'ipsecIkeDh',
  'ipsecIkeEncr',
  'ipsecIkePrf',
  'ipsecInnerDstEnd',
  'ipsecInnerDstStart',
  'ipsecInnerSrcEnd',
  'ipsecInnerSrcStart',
  'ipsecLoadLocalBaseIp',
  'ipsecLoadPeerBaseIp',
  'ipsecLoadRole',
  'ipsecMode',
  'ipsecPeerBase',
  'ipsecSpi',
  'ipsecTsDstEnd',
  'ipsecTsDstStart',
  'ipsecTsSrcEnd',
  'ipsecTsSrcStart',
  'rotationMode',
  'tunnelClientIp',
  'tunnelEndpoints',
  'tunnelServerIp',
]);
const integerArrays = names(['malwareFiles', 'tunnelIDs']);
const objectArrays = names(['sources', 'targets']);

/** Ten thousand agents and more may take part in one entry; how large a plan may become is decided when it is made. */
export const maxEndpoints = 20_000;

/** Members of `values` that are stored sealed and read back masked. */
export const secretValues = ['ipsecCipherKey', 'ipsecKey', 'ipsecPsk'] as const;

const each = <const Names extends readonly string[], S extends TSchema>(list: Names, schema: S) =>
  Object.fromEntries(list.map((name) => [name, Type.Optional(schema)])) as {
    [K in Names[number]]: ReturnType<typeof Type.Optional<S>>;
  };

const FreeObject = Type.Record(Type.String(), Type.Unknown());

/** Every member of `values`, by its declared type. */
export const EntryValues = Type.Object(
  {
    ...each(objects, FreeObject),
    ...each(integers, Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    ...each(booleans, Type.Boolean()),
    ...each(strings, Type.String({ maxLength: 65_536 })),
    ...each(secretValues, Type.String({ maxLength: 65_536, ...secret })),
    ...each(
      integerArrays,
      Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: 10_000 }),
    ),
    ...each(objectArrays, Type.Array(FreeObject, { maxItems: maxEndpoints })),
  },
  {
    title: 'EntryValues',
    ...strict,
    description: 'Which members a plugin takes, and what is in them, is told by GET /tasks/plugins/{id}',
  },
);
export type EntryValues = Static<typeof EntryValues>;
