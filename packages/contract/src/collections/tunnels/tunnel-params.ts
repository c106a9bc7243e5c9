import { Type } from 'typebox';
import { optional, StrictObject } from '../../schema.ts';
import { isSecret, writeOnlySecret } from '../../secret.ts';

const integer = ([minimum, maximum]: [number, number], description: string, more: object = {}) =>
  Type.Optional(Type.Integer({ minimum, maximum, description, ...more }));
const flag = (description: string, value = false) => optional.flag(description, value);
const text = (description: string, more: object = {}) =>
  optional.string({ minLength: 1, maxLength: 256, description, ...more });
const choice = <const Values extends readonly string[]>(values: Values, description: string) =>
  optional.oneOf(values, { default: values[0], description });

/** Stored encrypted; reads back masked. */
const secret = (description: string, more: object = {}) => text(description, { ...writeOnlySecret, ...more });

/** An id on the wire and its increment per tunnel. */
const numbered = (name: string, [minimum, maximum]: [number, number], description: string) => ({
  [name]: integer([minimum, maximum], `${description} of the first tunnel`),
  [`${name}Step`]: integer([0, maximum], `What each further tunnel adds to \`${name}\``, { default: 1 }),
});

const word = 2 ** 32 - 1;
const outerIp = {
  ttl: integer([1, 255], 'Hop limit of the outer header', { default: 64 }),
  dscp: integer([0, 63], 'DSCP of the outer header', { default: 0 }),
  gateway: text('Router of outer packets to a far end outside the network of the interface', { maxLength: 64 }),
};
const df = { df: flag('The outer header forbids fragmentation', true) };
const innerVlan = { innerVlan: flag('The inner frame carries a VLAN tag') };
const port = (value: number) => ({ port: integer([1, 65_535], 'UDP port of the receiver', { default: value }) });
const udpChecksum = { udpChecksum: flag('The outer UDP header has a checksum') };
const ethernet = { ethernet: flag('Carries Ethernet frames instead of IP packets'), ...innerVlan };
const bytesOf4 = (maximum: number, what: string) => ({
  optionBytes: integer([0, maximum], `Bytes of ${what}, a multiple of 4`, { multipleOf: 4, default: 0 }),
});

const hexKey = { pattern: '^(0x)?([0-9a-fA-F]{2}){8,64}$' };
const cookie = { pattern: '^(0x)?([0-9a-fA-F]{8}|[0-9a-fA-F]{16})$' };
const curveKey = { pattern: '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$' };

const ipsec = {
  mode: choice(['tunnel', 'transport'], 'ESP around the whole packet, or around its payload'),
  authMethod: choice(['psk', 'cert', 'manual'], '`cert` uses `certificateID`, `manual` needs no IKE'),
  psk: secret('Pre-shared key'),
  cipher: text('ESP proposal', { default: 'aes256gcm16', examples: ['aes256gcm16', 'aes128-sha256'] }),
  key: secret('Integrity key of manual keying, hexadecimal', hexKey),
  cipherKey: secret('Encryption key of manual keying, hexadecimal', hexKey),
  spi: text('Security parameter index of manual keying', { pattern: '^(0x[0-9a-fA-F]{1,8}|[0-9]{1,10})$' }),
  ikeEncr: text('IKE encryption', { examples: ['aes256'] }),
  ikePrf: text('IKE pseudo-random function', { examples: ['sha256'] }),
  ikeDh: text('IKE key exchange group', { examples: ['curve25519'] }),
  localId: text('IKE identity of the client'),
  remoteId: text('IKE identity of the server'),
  pfs: flag('Child SAs make their own key exchange'),
  natt: flag('ESP in UDP'),
  dpdInterval: integer([0, 86_400], 'Seconds between dead-peer checks; 0: none'),
  dpdTimeout: integer([0, 86_400], 'Seconds until a peer counts as dead'),
  rekeyTime: integer([0, 604_800], 'Seconds until keys are renewed; 0: never'),
  saLifetime: integer([0, 604_800], 'Seconds an SA lives at most; 0: for ever'),
  tsSrcStart: text('First source address of the traffic selector'),
  tsSrcEnd: text('Last source address of the traffic selector'),
  tsDstStart: text('First destination address of the traffic selector'),
  tsDstEnd: text('Last destination address of the traffic selector'),
  ...outerIp,
  ...df,
};

const gre = {
  ...numbered('key', [0, word], 'Key'),
  checksum: flag('Adds a checksum'),
  sequence: flag('Adds sequence numbers'),
  ...ethernet,
  ...outerIp,
  ...df,
};

const ipip = { encapLimit: flag('IPv6 outside: adds the tunnel encapsulation limit option'), ...outerIp, ...df };

const vxlan = {
  ...numbered('vni', [0, 2 ** 24 - 1], 'Network identifier'),
  ...port(4789),
  ...udpChecksum,
  ...innerVlan,
  ...outerIp,
  ...df,
};

const geneve = {
  ...numbered('vni', [0, 2 ** 24 - 1], 'Network identifier'),
  ...port(6081),
  ...bytesOf4(252, 'options'),
  ...udpChecksum,
  ...innerVlan,
  ...outerIp,
  ...df,
};

const l2tpv3 = {
  encapsulation: choice(['udp', 'ip'], 'Over UDP, or directly over IP (protocol 115)'),
  ...port(1701),
  tunnelId: integer([1, word], 'Control connection of this side'),
  peerTunnelId: integer([1, word], 'Control connection of the other side'),
  ...numbered('sessionId', [1, word], 'Session of this side'),
  ...numbered('peerSessionId', [1, word], 'Session of the other side'),
  cookieBytes: Type.Optional(
    Type.Unsafe<number>({ type: 'integer', enum: [0, 4, 8], default: 0, description: 'Length of the cookie' }),
  ),
  cookie: secret('Cookie that this side expects, hexadecimal', cookie),
  peerCookie: secret('Cookie that the other side expects, hexadecimal', cookie),
  l2Specific: flag('There is an L2-specific sublayer', true),
  ...innerVlan,
  ...outerIp,
  ...df,
};

const gtpu = {
  ...numbered('teid', [0, word], 'Tunnel endpoint identifier'),
  ...port(2152),
  sequence: flag('Adds sequence numbers'),
  ...bytesOf4(1020, 'extension headers; a PDU session container has 4'),
  echoInterval: integer([0, 3600], 'Seconds between echo requests of GTP-C to the other end; 0: none', { default: 0 }),
  ...udpChecksum,
  ...outerIp,
  ...df,
};

const wireguard = {
  privateKey: secret('Private key of this side, base64', curveKey),
  peerPublicKey: text('Public key of the other side, base64', curveKey),
  presharedKey: secret('Additional symmetric key, base64', curveKey),
  ...port(51_820),
  keepalive: integer([0, 65_535], 'Seconds between keepalives; 0: none', { default: 0 }),
  allowedIps: optional.array(Type.String({ maxLength: 64 }), {
    maxItems: 1000,
    description: 'Inner ranges such as 10.0.0.0/8',
  }),
  ...outerIp,
};

const mpls = {
  ...numbered('label', [16, 2 ** 20 - 1], 'Label'),
  labels: integer([1, 16], 'Labels in the stack', { default: 1 }),
  tc: integer([0, 7], 'Traffic class', { default: 0 }),
  ttl: outerIp.ttl,
  controlWord: flag('A pseudowire control word'),
  ...ethernet,
};

/** Schema of `params` by tunnel type. */
export const tunnelParams = {
  ipsec: StrictObject(ipsec),
  gre: StrictObject(gre),
  ipip: StrictObject(ipip),
  vxlan: StrictObject(vxlan),
  geneve: StrictObject(geneve),
  l2tpv3: StrictObject(l2tpv3),
  gtpu: StrictObject(gtpu),
  wireguard: StrictObject(wireguard),
  mpls: StrictObject(mpls),
};
export type TunnelType = keyof typeof tunnelParams;

/** The members of `params` that are secrets. */
export const tunnelSecretsOf = (type: TunnelType): readonly string[] =>
  Object.entries(tunnelParams[type].properties)
    .filter(([, member]) => isSecret(member))
    .map(([name]) => name);
